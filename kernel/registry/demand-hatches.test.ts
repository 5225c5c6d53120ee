// Over 200 lines, because it is one table: each refused hatch with its message.
import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { flag, integer, line, ref, set, states, upload } from '../declare/fields.ts';
import { route } from '../declare/route.ts';
import { assemble } from './assemble.ts';

const shop = domain({ name: 'shop', roles: ['seller'] });

/** Declares a note, with the additions and replacements of a test. */
const refused = ({
  fields = {},
  events = {},
  ...more
}: { fields?: object; events?: object } & object): string => {
  const note = shop.aggregate('note', {
    owner: 'writer',
    fields: {
      writer: ref(shop.user),
      title: line(20),
      tag: line(20).optional(),
      done: flag().default(false),
      ...fields,
    },
    events: {
      written: { creates: ['title'] },
      changed: { changes: ['title'] },
      thrown: { ends: true },
      ...events,
    },
    commands: { jot: { emits: 'written' }, change: { emits: 'changed' }, throw: { emits: 'thrown' } },
    rights: { read: { anyone: true }, write: { seller: 'own' } },
    ...more,
  } as never);
  try {
    assemble(shop as never, [note] as never);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

const asIs = ({ title }: { readonly title: string }) => title;
type Columns = Readonly<Record<string, string>>;
const text = (sql: (columns: Columns) => string) => ({ type: 'String', sql, value: asIs });

test.each<[string, object, string]>([
  ['what is right', { projects: { tag: { by: { written: asIs } } } }, ''],
  [
    'an unknown column',
    { expressions: { short: text(({ titel }) => `left(${titel}, 1)`) } },
    'note: the expression short asks for the column of titel, which is no field: name one of writer, title, tag, done.',
  ],
  [
    'two statements',
    { expressions: { short: text(({ title }) => `${title}); select (1`) } },
    'note: the expression short has more than one expression: leave out “;”, “--” and “/*”.',
  ],
  [
    'what would end a statement, in quotes',
    { expressions: { short: text(({ title }) => `${title} || '; -- /* ' || E'\\';'`) } },
    '',
  ],
  [
    'a comment that hides a quote',
    { expressions: { short: text(({ title }) => `${title} /* ' */ || ' */'`) } },
    'note: the expression short has more than one expression: leave out “;”, “--” and “/*”.',
  ],
  [
    'dollars in a name, which quote nothing',
    { expressions: { short: text(({ title }) => `${title} || a$$ ; select b$$`) } },
    'note: the expression short has more than one expression: leave out “;”, “--” and “/*”.',
  ],
  [
    'a filter that undoes what stands beside it',
    {
      filters: {
        short: {
          takes: 'Int',
          sql: ({ title }: Columns, n: string) => `length(${title}) = ${n}) or (true`,
          holds: () => true,
        },
      },
    },
    'note: the filter short closes or opens a parenthesis of what is around it: let each “(” have its own “)”.',
  ],
  [
    'half an expression',
    { expressions: { short: text(({ title }) => `left(${title}, 1`) } },
    'note: the expression short closes or opens a parenthesis of what is around it: let each “(” have its own “)”.',
  ],
  [
    'a parenthesis after a quoted backslash',
    { expressions: { short: text(({ title }) => `${title} || E'\\'(') || (${title} || ')'`) } },
    'note: the expression short closes or opens a parenthesis of what is around it: let each “(” have its own “)”.',
  ],
  [
    'parentheses in quotes',
    { expressions: { short: text(({ title }) => `left(${title} || ') :(''' || $a$($a$ || E'\\')', 1)`) } },
    '',
  ],
  [
    'an expression called like a field',
    { expressions: { tag: text(({ title }) => `${title}`) } },
    'note: the expression tag is called like something else, or like nothing that GraphQL can have: give it another name.',
  ],
  [
    'a filter called like a parameter of lists',
    { filters: { limit: { takes: 'Int', sql: () => 'true', holds: () => true } } },
    'note: the filter limit is a parameter of every list: give it another name.',
  ],
  [
    'a filter called like that by the owner',
    { filters: { writer: { takes: 'Int', sql: () => 'true', holds: () => true } } },
    'note: the filter writer is that of two fields: give it another name.',
  ],
  [
    'a projection by an event that ends',
    { projects: { tag: { by: { thrown: asIs } } } },
    'note: the projection of tag is by the event thrown, which ends: name one that creates, changes or sets fields.',
  ],
  [
    'a projection beside a form',
    { events: { written: { creates: ['title', 'tag'] } }, projects: { tag: { by: { changed: asIs } } } },
    'note: the projection of tag is not alone: the event written gives it a value too; let only one of them do so.',
  ],
  [
    'a projection without a value before it',
    { fields: { tag: line(20) }, projects: { tag: { by: { changed: asIs } } } },
    'note: the projection of tag needs a value before it: give the field a default, or make it optional().',
  ],
  [
    'a projection of a state',
    { fields: { status: states('open', 'over') }, projects: { status: { by: { changed: () => 'over' } } } },
    'note: the projection of status makes no reference, state or upload: let an event say it.',
  ],
  [
    'a projection of what is personal',
    { fields: { tag: line(20).optional().personal() }, projects: { tag: { by: { written: asIs } } } },
    'note: the projection of tag makes nothing that is personal or unique: let a form or a decision say it.',
  ],
  [
    'a right by what is projected',
    {
      projects: { done: { by: { changed: () => true } } },
      rights: { read: { anyone: { done: true } }, write: { seller: 'own' } },
    },
    'note: a condition asks for done of the note, which a projection makes: ask for what events say.',
  ],
  [
    'a personal upload, whose file would stay',
    { fields: { photo: upload().optional().personal() } },
    'note: personal() of the upload photo cannot be carried out yet; leave it out.',
  ],
])('%s', (_, change, sentence) => {
  expect(refused(change)).toBe(sentence);
});

const routed = (change: object): string => {
  const right = {
    path: '/note-summary',
    says: 'Notes',
    right: 'note.read',
    gives: { notes: integer(0, 9) },
    sql: () => 'select 1 as notes',
  };
  const note = shop.aggregate('note', {
    owner: 'writer',
    fields: { writer: ref(shop.user), title: line(20) },
    events: { written: { creates: ['title'] }, changed: { changes: ['title'] } },
    commands: { jot: { emits: 'written' }, change: { emits: 'changed' } },
    rights: { read: { anyone: true }, write: { seller: 'own', admin: 'own' } },
  });
  try {
    assemble(shop, [note], [], [route('summarizeNotes', { ...right, ...change } as never)]);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test.each<[string, object, string | RegExp]>([
  ['a route that is right', {}, ''],
  [
    'a path of an aggregate',
    { path: '/notes' },
    'the route summarizeNotes has the path /notes, which is taken, or no step of small letters: give it another.',
  ],
  [
    'a path of the kernel',
    { path: '/events' },
    'the route summarizeNotes has the path /events, which is taken, or no step of small letters: give it another.',
  ],
  [
    'a path of several steps',
    { path: '/a/b' },
    'the route summarizeNotes has the path /a/b, which is taken, or no step of small letters: give it another.',
  ],
  [
    'an unknown right',
    { right: 'note.see' },
    /^the route summarizeNotes takes the right note\.see, which there is not: name one of .*note\.read/,
  ],
  [
    'a right that nobody has over everything',
    { right: 'note.change' },
    'the route summarizeNotes takes the right note.change, which nobody has over everything: name one that somebody has.',
  ],
  [
    'what is no plain value',
    { gives: { rows: set(line(9), 3) } },
    'the route summarizeNotes has rows, which is no plain value with a name of its own: give it another type or name.',
  ],
  [
    'two statements',
    { sql: () => 'select 1 as notes; select 2' },
    'the route summarizeNotes has more than one statement: leave out “;”, “--” and “/*”.',
  ],
  [
    'another statement around it',
    { sql: () => 'select 1 as notes) a, (select 2' },
    'the route summarizeNotes closes or opens a parenthesis of what is around it: let each “(” have its own “)”.',
  ],
  [
    'what it does not take',
    { sql: ({ most }: { most: string }) => `select ${most} as notes` },
    'the route summarizeNotes asks for most, which it does not take: name one of callerId.',
  ],
])('%s', (_, change, sentence) => {
  expect(routed(change)).toEqual(typeof sentence === 'string' ? sentence : expect.stringMatching(sentence));
});

test('code gets no personal and no guarded data', () => {
  const seen: unknown[] = [];
  const note = shop.aggregate('note', {
    owner: 'writer',
    fields: {
      writer: ref(shop.user),
      title: line(20),
      secret: line(20).personal(),
      price: line(20),
      tag: line(20).optional(),
    },
    events: { written: { creates: ['title', 'secret', 'price'] } },
    commands: { jot: { emits: 'written' } },
    rights: { read: { anyone: true } },
    fieldRights: { readPrice: { reads: ['price'], seller: 'own' } },
    projects: { tag: { by: { written: (data) => void seen.push(data) } } },
  });
  const { kinds } = assemble(shop, [note]);
  kinds.note?.events.written?.projects.tag?.({
    noteId: 1,
    title: 'On glass',
    secret: 'Nobody’s',
    price: '3',
  });
  expect(seen).toEqual([{ noteId: 1, title: 'On glass' }]);
});
