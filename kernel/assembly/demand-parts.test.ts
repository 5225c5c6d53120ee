import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { flag, integer, line, list, picture, prose, ref, set, states, word } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;

type Wrong = {
  readonly fieldRights: object;
  readonly events?: object;
  readonly commands?: object;
  readonly derived?: object;
  readonly rest?: object;
};

const declared = ({ fieldRights, events, commands, derived, rest }: Wrong) =>
  assemble(base, [
    aggregate('note', {
      owner: 'clerk',
      fields: {
        clerk: ref(user),
        title: line(9),
        secret: line(9).optional(),
        body: line(9).optional().search('A'),
        number: line(9).optional().unique(),
        cover: picture({ external: true }).optional(),
        rows: list(
          {
            amount: integer(1, 9),
            hidden: flag(),
            tags: set(word(/^a$/, 'Must be a.'), 3).default([]),
            by: ref(user),
          },
          { max: 3 },
        ),
        marks: list({ by: ref(user), hidden: flag() }, { max: 3, key: 'by' }),
        status: states('open', 'shut'),
      },
      derived,
      events: {
        made: { creates: ['title', 'secret'] },
        changed: { changes: ['title', 'secret', 'cover'] },
        rowAdded: { adds: 'rows' },
        markAdded: { adds: 'marks' },
        ...events,
      },
      commands: {
        make: { emits: 'made' },
        change: { emits: 'changed' },
        addRow: { emits: 'rowAdded' },
        addMark: { emits: 'markAdded' },
        ...commands,
      },
      rights: { read: { anyone: true }, write: { clerk: 'own' } },
      fieldRights,
      ...rest,
    } as never),
  ] as never);

test('valid parts are accepted', () => {
  const { note } = declared({
    fieldRights: {
      readSecret: { reads: ['secret', 'marks', 'updatedAt'] },
      readHidden: { items: { rows: { hidden: true } }, clerk: 'own' },
    },
    events: { rowRemoved: { removes: 'rows' }, rowChanged: { updates: 'rows' } },
  }).kinds;
  expect(note?.lists.rows?.settled).toEqual(['hidden']);
});

test.each(
  Object.entries<Wrong>({
    'note: the right readIt covers no part of it: name fields or lists, or remove the right.': {
      fieldRights: { readIt: { reads: [] } },
    },
    'covers sceret, which is not one of its fields: use one of them.': {
      fieldRights: { readIt: { reads: ['sceret'] } },
    },
    'covers clerk, which every event contains: remove it from the right.': {
      fieldRights: { readIt: { reads: ['clerk'] } },
    },
    'covers status, a state that the available commands reveal': {
      fieldRights: { readIt: { reads: ['status'] } },
    },
    'covers title, which is shown wherever the aggregate is referenced': {
      fieldRights: { readIt: { reads: ['title'] } },
      rest: { label: 'title' },
    },
    'covers cover, whose files are as visible as the aggregate: remove it from the right.': {
      fieldRights: { readIt: { reads: ['cover'] } },
    },
    'covers body, which everybody can search: remove search() from it.': {
      fieldRights: { readIt: { reads: ['body'] } },
    },
    'reveals to writers which values are taken: remove unique() from it.': {
      fieldRights: { readIt: { reads: ['number'] } },
    },
    'covers createdAt, which the id reveals: remove it from the right.': {
      fieldRights: { readIt: { reads: ['createdAt'] } },
    },
    'secret is in the rights one and two: keep it in one of them.': {
      fieldRights: { one: { reads: ['secret'] }, two: { reads: ['secret'] } },
    },
    'rows is in the rights one and two': {
      fieldRights: { one: { reads: ['rows'] }, two: { items: { rows: { hidden: true } } } },
    },
    'the right change to parts has the name of another right': {
      fieldRights: { change: { reads: ['secret'] } },
    },
    'the right readIt to parts has its own scope': {
      fieldRights: { readIt: { reads: ['secret'], scope: 'spy' } },
    },
    'has `writes`, which is for users only: declare separate commands': {
      fieldRights: { readIt: { reads: ['secret'], writes: ['secret'] } },
    },
    'covers items of row, which is not one of its lists: use one of them.': {
      fieldRights: { readIt: { items: { row: { hidden: true } } } },
    },
    'covers some items of rows, but does not say which': { fieldRights: { readIt: { items: { rows: {} } } } },
    'whose key by reveals to writers which items exist': {
      fieldRights: { readIt: { items: { marks: { hidden: true } } } },
    },
    'selected by by, which not every event can contain': {
      fieldRights: { readIt: { items: { rows: { by: 1 } } } },
    },
    'compares tags with "a", which no field of the type set equals': {
      fieldRights: { readIt: { items: { rows: { tags: 'a' } } } },
    },
    'total is derived from all of its rows, some of which only callers with the right readIt may read: add total to the `reads` of readIt.':
      {
        fieldRights: { readIt: { items: { rows: { hidden: true } } } },
        derived: { total: { sum: 'rows.amount' } },
      },
    'the event rowAdded changes rows, which only callers with the right readIt may read, and also sets status: let another event set it.':
      {
        fieldRights: { readIt: { reads: ['rows'] } },
        events: { rowAdded: { adds: 'rows', also: { status: 'shut' } } },
      },
    'the event flagged sets secret, which only callers with the right readIt may read, and also makes a change that others see: let another event make that change.':
      {
        fieldRights: { readIt: { reads: ['secret'] } },
        events: { flagged: { sets: { secret: 'x', status: 'shut' } } },
        commands: { flag: { emits: 'flagged' } },
      },
  }),
)('refused: %s', (says, wrong) => {
  expect(() => declared(wrong)).toThrow(says);
});

const added = (sets: object, also: object) => () =>
  declared({
    fieldRights: { readHidden: { items: { rows: { hidden: true } } }, readSecret: { reads: ['secret'] } },
    events: { rowAdded: { adds: 'rows', sets, also } },
  });
test('an event that adds items which all readers see may set fields that they see, and no others', () => {
  expect(added({ hidden: false }, { status: 'shut' })).not.toThrow();
  expect(added({ hidden: true }, { status: 'shut' })).toThrow('and also sets status');
  expect(added({ by: 'caller' }, { status: 'shut' })).toThrow('and also sets status');
  expect(added({ hidden: false }, { secret: 'x' })).toThrow('the event rowAdded sets secret');
});

test('a right to a personal field of the owner is accepted, and a right that depends on one is refused', () => {
  const of = (clerk: unknown) =>
    assemble(base, [
      aggregate('note', {
        owner: 'clerk',
        fields: { clerk: ref(user), details: prose(99).personal(), secret: line(9) },
        events: { made: { creates: ['details', 'secret'] } },
        commands: { make: { emits: 'made' } },
        rights: { read: { anyone: true } },
        fieldRights: { readDetails: { reads: ['details'], clerk } },
      } as never),
    ] as never);
  expect(of('own').kinds.note?.fieldRights).toHaveProperty('readDetails');
  expect(() => of({ details: 'x' })).toThrow('note: a right to read uses details, which is personal');
});
