import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { StartRefused } from '../base/start-refused.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, list, picture, ref, states } from '../declare/fields.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'boxes', roles: ['clerk'] });
const { aggregate, user } = base;

const box = aggregate('box', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    into: ref('box').optional(),
    items: list({ name: line(20), weight: integer(1, 9) }, { max: 3 }),
    status: states('open', 'emptied'),
  },
  derived: { weight: { sum: 'items.weight' } },
  events: {
    opened: { creates: [] },
    itemPut: { adds: 'items' },
    itemTaken: { removes: 'items' },
    itemWeighed: { updates: 'items', fields: ['weight'] },
    emptied: { changes: ['into'], sets: { status: 'emptied' } },
    sorted: {},
  },
  commands: {
    open: { emits: 'opened' },
    put: { emits: 'itemPut' },
    empty: {
      emits: ['emptied', 'itemTaken'],
      requires: ['into'],
      also: { into: ['itemPut'] },
      decide: ({ state, on }) => [
        'emptied',
        ...state.items.flatMap(
          ({ id, ...item }) => [['itemTaken', { id }], on('into', 'itemPut', item)] as const,
        ),
      ],
    },
    sort: {
      emits: ['sorted', 'itemTaken', 'itemPut', 'itemWeighed'],
      decide: ({ state }) => [
        'sorted',
        ['itemTaken', { id: state.items[0]?.id ?? 9 }],
        ['itemPut', { name: 'All of them', weight: 1 }],
        ['itemWeighed', { id: 2, weight: 5 }],
      ],
    },
    misname: {
      emits: ['sorted', 'itemTaken'],
      // @ts-expect-error An event of an item needs the item.
      decide: ({ state }) => (state.weight > 3 ? ['sorted', 'itemTaken'] : ['sorted']),
    },
    mistake: {
      emits: ['sorted', 'itemPut'],
      // @ts-expect-error The field is a text.
      decide: ({ state }) => ['sorted', ['itemPut', { name: state.id, weight: 3 }]],
    },
  },
  rights: { read: { anyone: true }, write: { clerk: true } },
});
const boxes = assemble(base, [box]);
const { given, withId } = rulesOf(boxes);

const put = (itemId: number, name: string) => ['itemPut', { itemId, name, weight: itemId }] as const;

test('items move to another aggregate, by one command of the aggregate', () => {
  const other = withId(9).given(box, 'opened').state;
  given(box, 'opened', put(1, 'Hammer'), put(2, 'Saw'))
    .beside({ box: [other] })
    .when('empty', { intoId: 9 })
    .yields(
      ['emptied', { intoId: 9 }],
      ['itemTaken', { itemId: 1 }],
      ['itemTaken', { itemId: 2 }],
      ['box.itemPut', { boxId: 9, clerkId: 1, itemId: 1, name: 'Hammer', weight: 1 }],
      ['box.itemPut', { boxId: 9, clerkId: 1, itemId: 2, name: 'Saw', weight: 2 }],
    );
});

test('each event sees the items after the one before it', () => {
  given(box, 'opened', put(1, 'Hammer'))
    .when('sort')
    .yields(
      'sorted',
      ['itemTaken', { itemId: 1 }],
      ['itemPut', { itemId: 2, name: 'All of them', weight: 1 }],
      ['itemWeighed', { itemId: 2, weight: 5 }],
    );
});

test('an item that does not exist is refused', () => {
  given(box, 'opened').when('sort').refuses('box_item_not_found');
});

test('a decision cannot give the file of an item', () => {
  const tried = aggregate('tried', {
    fields: { photos: list({ photo: picture().optional() }, { max: 3 }) },
    events: { made: { creates: [] }, photoChanged: { updates: 'photos' }, sorted: {} },
    commands: {
      make: { emits: 'made' },
      sort: { emits: ['sorted', 'photoChanged'], decide: ({ now }) => (now === '' ? [] : ['sorted']) },
    },
    rights: { read: { anyone: true } },
  });
  expect(() => assemble(base, [tried])).toThrow(
    new StartRefused(
      'tried: the command sort emits photoChanged, which sets the file photo of an item: use an event without it, or a command to the item.',
    ),
  );
});
