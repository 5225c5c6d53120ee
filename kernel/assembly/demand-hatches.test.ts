import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { date, flag, line, ref, states, upload } from '../declare/fields.ts';
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
    'note: the expression short has unbalanced parentheses: balance “(” and “)”.',
  );
});

test.each(
  Object.entries<object>({
    'note: the expression short uses the column of titel, which is not a field: use one of writer, title, tag, done.':
      { expressions: { short: text(({ titel }) => `left(${titel}, 1)`) } },
    'note: the filter short has unbalanced parentheses: balance “(” and “)”.': {
      filters: {
        short: {
          takes: 'Int',
          sql: ({ title }: Columns, n: string) => `length(${title}) = ${n}) or (true`,
          holds: () => true,
        },
      },
    },
    'note: the expression tag has a name that is already used or not valid in GraphQL: give it another name.':
      { expressions: { tag: text(({ title }) => `${title}`) } },
    'note: the filter limit is a parameter of every list: give it another name.': {
      filters: { limit: { takes: 'Int', sql: () => 'true', holds: () => true } },
    },
    'note: the filter writer belongs to two fields: give it another name.': {
      filters: { writer: { takes: 'Int', sql: () => 'true', holds: () => true } },
    },
    'note: the projection of tag uses the event thrown, whose effect is `ends`: use an event with `creates`, `changes` or `sets`.':
      { projects: { tag: { by: { thrown: asIs } } } },
    'note: the projection of tag conflicts with the event written, which also sets the field: keep one of them.':
      {
        events: { written: { creates: ['title', 'tag'] } },
        projects: { tag: { by: { changed: asIs } } },
      },
    'note: the projection of tag needs an initial value: give the field a default, or make it optional().': {
      fields: { tag: line(20) },
      projects: { tag: { by: { changed: asIs } } },
    },
    'note: the projection of status cannot set a reference, a state or an upload: let an event set it.': {
      fields: { status: states('open', 'over') },
      projects: { status: { by: { changed: () => 'over' } } },
    },
    'note: the projection of tag cannot set a personal or unique field: let a form or a decision set it.': {
      fields: { tag: line(20).optional().personal() },
      projects: { tag: { by: { written: asIs } } },
    },
    'note: the timer warn runs out at dueOn, which a projection computes: use a date or an instant that events set.':
      {
        fields: { dueOn: date().optional() },
        projects: { dueOn: { by: { changed: () => '2026-01-01' } } },
        timers: { warn: { at: 'dueOn', run: 'throw' } },
      },
    'note: a condition uses done of the note, which a projection computes: use a field that events set.': {
      projects: { done: { by: { changed: () => true } } },
      rights: { read: { anyone: { done: true } }, write: { seller: 'own' } },
    },
    'note: the upload photo cannot be personal(): remove it; the file goes with the note.': {
      fields: { photo: upload().optional().personal() },
    },
  }),
)('refused: %s', (says, change) => {
  expect(refused(change)).toBe(says);
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
