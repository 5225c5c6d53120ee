// Over 200 lines, because it is one table: each refused list with its message.
import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import {
  type Field,
  type Fields,
  integer,
  line,
  list,
  picture,
  ref,
  set,
  states,
  word,
} from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;

const amount = { amount: integer(1, 9) };
type Options = { readonly max: number; readonly key?: never; readonly ordered?: true; readonly one?: string };
type More = {
  readonly events?: object;
  readonly commands?: object;
  readonly rights?: object;
  readonly facts?: object;
  readonly name?: string;
  readonly rest?: object;
};

const declared = (
  item: Fields,
  options: Options,
  { name = 'note', events, commands, rights, facts, rest }: More = {},
) =>
  assemble(base, [
    aggregate(name, {
      owner: 'clerk',
      fields: { clerk: ref(user), title: line(9), rows: list(item, options), status: states('open', 'shut') },
      events: { made: { creates: ['title'] }, rowAdded: { adds: 'rows' }, ...events },
      commands: { make: { emits: 'made' }, addRow: { emits: 'rowAdded' }, ...commands },
      facts,
      rights: { read: { anyone: true }, ...rights },
      ...rest,
    } as never),
  ] as never);

const byPayer = { rows: { some: { payer: { name: 'Ada' } } } };
const shutting = (rest: object): More => ({
  events: { shut: { sets: { status: 'shut' } } },
  commands: { shut: { emits: 'shut' } },
  rest,
});

test('a valid list is accepted', () => {
  const { lists, fields } = declared(amount, { max: 3 }).kinds.note ?? {};
  expect(fields).not.toHaveProperty('rows');
  expect(lists?.rows).toMatchObject({
    one: 'row',
    table: 'note_rows',
    id: { name: 'rowId', column: 'id' },
    max: 3,
    isOrdered: false,
  });
  const keyed = declared(
    { ...amount, article: ref(user) },
    { max: 3, key: 'article' as never, one: 'entry' },
  );
  expect(keyed.kinds.note?.lists.rows).toMatchObject({
    one: 'entry',
    id: { name: 'articleId', column: 'article_id' },
    key: 'article',
  });
});

test.each(
  Object.entries<() => unknown>({
    'note: the list rows allows at most 0 items: use a number from 1 to 1000.': () =>
      declared(amount, { max: 0 }),
    'note: the list rows allows at most 5000 items: use a number from 1 to 1000.': () =>
      declared(amount, { max: 5_000 }),
    'note: the list rows calls an item rows: choose another word with `one`.': () =>
      declared(amount, { max: 3, one: 'rows' }),
    'has the table a_very_long_name_of_an_aggregate_that_is_there_rows, which is longer than 38 characters: give it another name.':
      () => declared(amount, { max: 3 }, { name: 'aVeryLongNameOfAnAggregateThatIsThere' }),
    'note: the column limit is reserved in SQL: give it another name.': () =>
      declared({ limit: integer(1, 9) }, { max: 3 }),
    'has the field due_id': () => declared({ due: ref(user), due_id: line(3) }, { max: 3 }),
    'note: the list rows has the key who, which must be a reference': () =>
      declared({ who: line(9).personal() }, { max: 3, key: 'who' as never }),
    'has rows with a list of its own, which items cannot have: declare an aggregate with a parent instead of the list.':
      () => declared({ rows: list(amount, { max: 3 }) }, { max: 3 }),
    'has receipt with an upload that no new item can have yet: make it optional().': () =>
      declared({ receipt: picture() }, { max: 3 }),
    'has receipt with personal(), which no upload can be: remove it': () =>
      declared({ receipt: picture().optional().personal() }, { max: 3 }),
    'has how with unique(), which only fields of aggregates can be: make it the `key` of the list, or declare an aggregate with a parent':
      () => declared({ how: line(9).unique() }, { max: 3 }),
    'has how with filter(), which lists and pictures cannot have: remove it.': () =>
      declared({ amount: integer(1, 9), how: picture().optional().filter() }, { max: 3 }),
    'has the filter limit, which is a parameter of every list or belongs to two fields: rename it.': () =>
      declared({ amount: integer(1, 9).filter('limit') }, { max: 3 }),
    'has the filter sum, which is a parameter of every list or belongs to two fields: rename it.': () =>
      declared({ amount: integer(1, 9).filter('sum'), more: integer(1, 9).filter('sum') }, { max: 3 }),
    'has how with search(), which only fields of aggregates can have: declare an aggregate with a parent instead of the list, or remove it.':
      () => declared({ how: line(9).search('A') }, { max: 3 }),
    'the personal field rows.how must belong to a user whom every event can name': () =>
      declared({ who: ref(user), how: line(9).personal({ of: 'who' }) }, { max: 3 }),
    'note: the list rows is not ordered, but the event rowMoved moves its items: make it `ordered`.': () =>
      declared(amount, { max: 3 }, { events: { rowMoved: { moves: 'rows' } } }),
    'note: the list rows has no fields besides its key, but the event rowChanged changes its items: remove that event.':
      () =>
        declared(
          { who: ref(user) },
          { max: 3, key: 'who' as never },
          { events: { rowChanged: { updates: 'rows' } } },
        ),
    'note: the command make is followed by addRow, which changes an item: remove it from `next`.': () =>
      declared(amount, { max: 3 }, { commands: { make: { emits: 'made', next: ['addRow'] } } }),

    'note: a condition on the rows uses remark, which is personal, so the visibility of events could not be decided: use another field.':
      () =>
        declared(
          { remark: line(9).personal() },
          { max: 3 },
          { rights: { read: { anyone: { rows: { some: { remark: 'a' } } } } } },
        ),
    'calls an item clerk, a name that its events already use': () =>
      declared(amount, { max: 3, one: 'clerk' }),
    'calls an item note, a name that its events already use': () => declared(amount, { max: 3, one: 'note' }),
    'note: the list rows has the key place, which may be less than 1, but paths need a positive number: set its minimum to 1.':
      () => declared({ place: integer(0, 9) }, { max: 3, key: 'place' as never }),
    'note: the event rowAdded carries title, but the item has a field with the same name: give one of the fields another name.':
      () =>
        declared(
          { title: line(9) },
          { max: 3 },
          { events: { rowAdded: { adds: 'rows', carries: ['title'] } } },
        ),
  }),
)('refused: %s', (says, declare) => {
  expect(declare).toThrow(says);
});

test.each([ref(user).optional(), set(word(/a/, 'a'), 2)])(
  'a key must be one value that is there (%#)',
  (who) => {
    expect(() => declared({ who }, { max: 3, key: 'who' as never })).toThrow(
      'note: the list rows has the key who',
    );
  },
);

test.each(['rank', 'noteId', 'clerk', 'rowId', 'version', 'Amount'])('the field %s is refused', (field) => {
  expect(() => declared({ [field]: integer(1, 9) }, { max: 3 })).toThrow(
    `note: the list rows has the field ${field}, a name that is not valid or that its events already use: give it another name.`,
  );
});

const some = { rows: { some: { amount: 1 } } };
test.each<object>([
  ...['when', 'pause'].map((when) => ({
    timers: { late: { after: 'made', wait: '1 day', run: 'shut', [when]: some } },
  })),
  { reactions: { clerk: { deleted: { run: 'shut', when: some } } } },
])('a condition on items is refused in %j', (rest) => {
  expect(() => declared(amount, { max: 3 }, shutting(rest))).toThrow(
    'note: a timer or a reaction has a condition on the rows, but these conditions cannot use lists: use a number that is derived from the list.',
  );
});

test.each<More>([
  { rights: { read: { anyone: byPayer } } },
  { facts: { paid: [{ open: true, ...byPayer }] } },
  { events: { shut: { sets: { status: 'shut' } } }, commands: { shut: { emits: 'shut', when: byPayer } } },
  { rest: { invariants: { paid: byPayer } } },
  { commands: { addRow: { emits: 'rowAdded', when: [byPayer] } } },
])('a condition on the target of an item is refused in %j', (more) => {
  expect(() => declared({ payer: ref(user) }, { max: 3 }, more)).toThrow(
    'note: a condition on the rows uses the target of payer, which is not read for items: use the caller, or fields of the item.',
  );
});

const made = { events: { made: { creates: [] } }, commands: { make: { emits: 'made' } } };
const open = { rights: { read: { anyone: true } } };

test('a condition behind a reference of an item is refused with its place', () => {
  const task = { ...made, ...open, fields: { rows: list({ payer: ref(user) }, { max: 3 }) } };
  const note = {
    ...made,
    fields: { task: ref('task') },
    rights: { read: { anyone: { task: { done: false } } } },
  };
  const facts = { done: byPayer };
  const all = [
    aggregate('task', { ...task, facts } as never),
    aggregate('note', { ...note, parent: 'task' } as never),
  ];
  expect(() => assemble(base, all.toReversed() as never)).toThrow(
    'note: of its task: a condition on the rows uses the target of payer',
  );
});

test('two lists with the same name for an item are refused', () => {
  const fields = { rows: list(amount, { max: 3 }), lines: list(amount, { max: 3, one: 'row' }) };
  expect(() => assemble(base, [aggregate('note', { ...made, ...open, fields } as never)] as never)).toThrow(
    'note: the list lines calls an item row, as rows does: choose another word with `one`.',
  );
});

test.each([
  ['optional', (rows: Field<unknown>) => rows.optional()],
  ['default', (rows: Field<unknown>) => rows.default([])],
  ['filter', (rows: Field<unknown>) => rows.filter()],
  ['sort', (rows: Field<unknown>) => rows.sort()],
  ['search', (rows: Field<unknown>) => rows.search('A')],
  ['unique', (rows: Field<unknown>) => rows.unique()],
  ['personal', (rows: Field<unknown>) => rows.personal()],
])('a list that is %s() as a whole is refused, unlike its fields', (name, of) => {
  const fields = { clerk: ref(user), rows: of(list(amount, { max: 3 })) };
  expect(() =>
    assemble(base, [aggregate('note', { ...made, ...open, owner: 'clerk', fields } as never)] as never),
  ).toThrow(`note: the list rows cannot be ${name}() as a whole: declare this for the fields of its items.`);
});

test('a sum over anything but a non-personal number of a list is refused', () => {
  const summing = (item: Fields, derived: object, rights: object = {}) =>
    assemble(base, [
      aggregate('note', {
        owner: 'clerk',
        fields: { clerk: ref(user), title: line(9), rows: list(item, { max: 3 }) },
        derived,
        events: { made: { creates: ['title'] } },
        commands: { make: { emits: 'made' } },
        rights: { read: { anyone: true, ...rights } },
      } as never),
    ] as never);
  const says =
    'note: total must count the items of a list, or sum a number of its items that is not personal';
  for (const derived of [
    { total: { sum: 'rows.title' } },
    { total: { sum: 'rows.x' } },
    { total: { count: 'lines' } },
  ])
    expect(() => summing({ ...amount, title: line(3) }, derived)).toThrow(says);
  expect(() => summing({ amount: integer(1, 9).personal() }, { total: { sum: 'rows.amount' } })).toThrow(
    says,
  );
  expect(() =>
    summing(amount, { total: { sum: 'rows.amount' } }, { clerk: { total: { min: 3 } }, anyone: false }),
  ).toThrow(
    'note: a right to read uses total, which is derived from its rows, so the visibility of events could not be decided',
  );
  for (const name of ['clerk', 'rows', 'title'])
    expect(() => summing(amount, { [name]: { count: 'rows' } })).toThrow(
      `note: ${name} is derived from a list, but has the name of a field: give it another name`,
    );
  const { fields, derived } =
    summing(amount, { total: { sum: 'rows.amount' }, rowCount: { count: 'rows' } }).kinds.note ?? {};
  expect([derived?.map(({ name }) => name), fields?.total?.initial, fields?.total?.graphql]).toEqual([
    ['total', 'rowCount'],
    0,
    'Int',
  ]);
  expect(
    summing({ amount: integer(1, 1_000_000_000) }, { total: { sum: 'rows.amount' } }).kinds.note?.fields.total
      ?.graphql,
  ).toBe('Float');
});

test('a list with the table of another aggregate is refused', () => {
  const noteRow = {
    fields: { title: line(9) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
  };
  const note = {
    fields: { rows: list(amount, { max: 3 }) },
    events: { made: { creates: [] } },
    commands: { make: { emits: 'made' } },
  };
  const rights = { read: { anyone: true } };
  const all = [
    aggregate('note', { ...note, rights } as never),
    aggregate('noteRow', { ...noteRow, rights } as never),
  ];
  expect(() => assemble(base, all as never)).toThrow(
    'noteRow: the table note_rows already belongs to note: give it another name.',
  );
});
