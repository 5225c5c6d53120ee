import { expect, test } from 'vitest';
import { domain } from '#kernel/declare/domain.ts';
import { flag, integer, line, list, picture, prose, ref, set, states, word } from '#kernel/declare/fields.ts';
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
        cover: picture().optional(),
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
        changed: { changes: ['title', 'secret'] },
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
    'note: the right readIt is to no part of it: name fields or lists, or remove it.': {
      fieldRights: { readIt: { reads: [] } },
    },
    'is to sceret, which is no field of it: name one.': { fieldRights: { readIt: { reads: ['sceret'] } } },
    'is to clerk, which every event names: remove it from the right.': {
      fieldRights: { readIt: { reads: ['clerk'] } },
    },
    'is to status, which shows in what can be done with it': {
      fieldRights: { readIt: { reads: ['status'] } },
    },
    'is to title, which is shown wherever it is referred to': {
      fieldRights: { readIt: { reads: ['title'] } },
      rest: { label: 'title' },
    },
    'is to cover, whose files are as visible as it is itself: remove it from the right.': {
      fieldRights: { readIt: { reads: ['cover'] } },
    },
    'is to body, by whose words everybody can search: remove search() from it.': {
      fieldRights: { readIt: { reads: ['body'] } },
    },
    'learns which values are taken: remove unique() from it.': {
      fieldRights: { readIt: { reads: ['number'] } },
    },
    'is to createdAt, which the id reveals: remove it from the right.': {
      fieldRights: { readIt: { reads: ['createdAt'] } },
    },
    'secret is of the rights one and two: name it in one of them.': {
      fieldRights: { one: { reads: ['secret'] }, two: { reads: ['secret'] } },
    },
    'rows is of the rights one and two': {
      fieldRights: { one: { reads: ['rows'] }, two: { items: { rows: { hidden: true } } } },
    },
    'the right change to parts is called like another right': {
      fieldRights: { change: { reads: ['secret'] } },
    },
    'the right readIt to parts has a scope of its own': {
      fieldRights: { readIt: { reads: ['secret'], scope: 'spy' } },
    },
    'says who writes what, which is not supported yet': {
      fieldRights: { readIt: { reads: ['secret'], writes: ['secret'] } },
    },
    'is to items of row, which is no list of it: name one.': {
      fieldRights: { readIt: { items: { row: { hidden: true } } } },
    },
    'is to some items of rows, and does not say which': { fieldRights: { readIt: { items: { rows: {} } } } },
    'whose items are identified by by, so that a writer learns which items exist': {
      fieldRights: { readIt: { items: { marks: { hidden: true } } } },
    },
    'by by, which not every event can say': { fieldRights: { readIt: { items: { rows: { by: 1 } } } } },
    'by tags, which not every event can say': { fieldRights: { readIt: { items: { rows: { tags: 'a' } } } } },
    'total follows from all of its rows, some of which only those of readIt may read: add total to what readIt reads.':
      {
        fieldRights: { readIt: { items: { rows: { hidden: true } } } },
        derived: { total: { sum: 'rows.amount' } },
      },
    'the event rowAdded is of rows, which only those of readIt may read, and sets status: let another event do that.':
      {
        fieldRights: { readIt: { reads: ['rows'] } },
        events: { rowAdded: { adds: 'rows', sets: { status: 'shut' } } },
      },
    'the event flagged sets secret, which only those of readIt may read, and does something else that others see: let another event do that.':
      {
        fieldRights: { readIt: { reads: ['secret'] } },
        events: { flagged: { sets: { secret: 'x', status: 'shut' } } },
        commands: { flag: { emits: 'flagged' } },
      },
  }),
)('refused: %s', (says, wrong) => {
  expect(() => declared(wrong)).toThrow(says);
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
  expect(() => of({ details: 'x' })).toThrow('note: a right to read asks for details, which is personal');
});
