import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { flag, integer, line, ref, set, states, upload } from '../declare/fields.ts';
import { route } from '../declare/route.ts';
import { assemble } from './assemble.ts';

const shop = domain({ name: 'shop', roles: ['seller'] });

/** Declares a note, with the additions and replacements of a test. */
const refused = (change: object): string => {
  const { fields, events, ...more } = change as { readonly fields?: object; readonly events?: object };
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

test.each<object>([
  { projects: { tag: { by: { written: asIs } } } },
  { expressions: { short: text(({ title }) => `${title} || '; -- /* ' || E'\\';'`) } },
  { expressions: { short: text(({ title }) => `left(${title} || ') :(''' || $a$($a$ || E'\\')', 1)`) } },
])('what is right, or in quotes, is accepted (%#)', (change) => {
  expect(refused(change)).toBe('');
});

test.each([
  ({ title }: Columns) => `${title}); select (1`,
  // A comment hides a quote, and dollars in a name quote nothing.
  ({ title }: Columns) => `${title} /* ' */ || ' */'`,
  ({ title }: Columns) => `${title} || a$$ ; select b$$`,
])('more than one expression is refused: %s', (sql) => {
  expect(refused({ expressions: { short: text(sql) } })).toBe(
    'note: the expression short has more than one expression: remove “;”, “--” and “/*”.',
  );
});

test.each([
  ({ title }: Columns) => `left(${title}, 1`,
  ({ title }: Columns) => `${title} || E'\\'(') || (${title} || ')'`,
])('a parenthesis without its other half is refused: %s', (sql) => {
  expect(refused({ expressions: { short: text(sql) } })).toBe(
    'note: the expression short closes or opens a parenthesis of its surroundings: balance “(” and “)”.',
  );
});

test.each(
  Object.entries<object>({
    'note: the expression short asks for the column of titel, which is no field: name one of writer, title, tag, done.':
      { expressions: { short: text(({ titel }) => `left(${titel}, 1)`) } },
    'note: the filter short closes or opens a parenthesis of its surroundings: balance “(” and “)”.': {
      filters: {
        short: {
          takes: 'Int',
          sql: ({ title }: Columns, n: string) => `length(${title}) = ${n}) or (true`,
          holds: () => true,
        },
      },
    },
    'note: the expression tag is called like something else, or like nothing that GraphQL can have: give it another name.':
      { expressions: { tag: text(({ title }) => `${title}`) } },
    'note: the filter limit is a parameter of every list: give it another name.': {
      filters: { limit: { takes: 'Int', sql: () => 'true', holds: () => true } },
    },
    'note: the filter writer is that of two fields: give it another name.': {
      filters: { writer: { takes: 'Int', sql: () => 'true', holds: () => true } },
    },
    'note: the projection of tag is by the event thrown, which ends: name one that creates, changes or sets fields.':
      { projects: { tag: { by: { thrown: asIs } } } },
    'note: the projection of tag is not alone: the event written gives it a value too; keep one of them.': {
      events: { written: { creates: ['title', 'tag'] } },
      projects: { tag: { by: { changed: asIs } } },
    },
    'note: the projection of tag needs a value before it: give the field a default, or make it optional().': {
      fields: { tag: line(20) },
      projects: { tag: { by: { changed: asIs } } },
    },
    'note: the projection of status makes no reference, state or upload: let an event set it.': {
      fields: { status: states('open', 'over') },
      projects: { status: { by: { changed: () => 'over' } } },
    },
    'note: the projection of tag makes nothing that is personal or unique: let a form or a decision set it.':
      { fields: { tag: line(20).optional().personal() }, projects: { tag: { by: { written: asIs } } } },
    'note: a condition asks for done of the note, which a projection makes: use a field that events set.': {
      projects: { done: { by: { changed: () => true } } },
      rights: { read: { anyone: { done: true } }, write: { seller: 'own' } },
    },
    'note: personal() of the upload photo is not supported yet; remove it.': {
      fields: { photo: upload().optional().personal() },
    },
  }),
)('refused: %s', (says, change) => {
  expect(refused(change)).toBe(says);
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

test('a valid route is accepted, and an unknown right refused with those that there are', () => {
  expect(routed({})).toBe('');
  expect(routed({ right: 'note.see' })).toMatch(
    /^the route summarizeNotes takes the right note\.see, which there is not: name one of .*note\.read/,
  );
});

test.each(
  Object.entries<object>({
    'the route summarizeNotes has the path /notes, which is taken, or no step of small letters: give it another.':
      { path: '/notes' },
    'the route summarizeNotes has the path /events, which is taken, or no step of small letters: give it another.':
      { path: '/events' },
    'the route summarizeNotes has the path /a/b, which is taken, or no step of small letters: give it another.':
      { path: '/a/b' },
    'the route summarizeNotes takes the right note.change, which nobody has over everything: name one that somebody has.':
      { right: 'note.change' },
    'the route summarizeNotes has rows, which is no plain value with a name of its own: give it another type or name.':
      { gives: { rows: set(line(9), 3) } },
    'the route summarizeNotes has more than one statement: remove “;”, “--” and “/*”.': {
      sql: () => 'select 1 as notes; select 2',
    },
    'the route summarizeNotes closes or opens a parenthesis of its surroundings: balance “(” and “)”.': {
      sql: () => 'select 1 as notes) a, (select 2',
    },
    'the route summarizeNotes asks for most, which it does not take: name one of callerId.': {
      sql: ({ most }: { most: string }) => `select ${most} as notes`,
    },
  }),
)('refused: %s', (says, change) => {
  expect(routed(change)).toBe(says);
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
