import { expect, test } from 'vitest';
import { claim, expenses } from '../../test/toy/expenses.ts';
import { evolveOf } from './evolve.ts';
import { ID, OWNER, rulesOf } from './given.ts';
import { itemsOf } from './items.ts';
import { ABSENT, type Happened } from './state.ts';

const { given } = rulesOf(expenses);
const drafted = ['drafted', { purpose: 'Strasbourg' }] as const;
const train = { category: 'travel', amount: 9_000, note: null };
const lunch = { category: 'meals', amount: 2_000, note: null };
const added = (itemId: number, item: object, rank: string) =>
  ['itemAdded', { itemId, ...item, rank }] as const;
const two = [drafted, added(1, train, 'a0'), added(2, lunch, 'a1')] as const;

test('items are numbered, and the number of a removed item is never reused', () => {
  given(claim, drafted)
    .when('addItem', train)
    .yields(added(1, train, 'a0'));
  given(claim, ...two, ['itemRemoved', { itemId: 2 }])
    .when('addItem', lunch)
    .yields(added(3, lunch, 'a1'));
});

test('a list refuses items beyond its maximum', () => {
  const full = [1, 2, 3, 4, 5].map((itemId) => added(itemId, train, `a${itemId}`));
  given(claim, drafted, ...full)
    .when('addItem', train)
    .refuses('claim_items_full', 'The maximum number of claim items is reached.');
  given(claim, drafted, ...full, ['itemRemoved', { itemId: 3 }])
    .when('addItem', train)
    .yields(added(6, train, 'a6'));
});

test('the state refuses before a full list does', () => {
  const full = [1, 2, 3, 4, 5].map((itemId) => added(itemId, train, `a${itemId}`));
  given(claim, drafted, ...full, ['submitted', {}])
    .when('addItem', train)
    .refuses('claim_not_draft');
});

test('an update records the differing fields only, and needs an existing item', () => {
  given(claim, ...two)
    .when('changeItem', { itemId: 2, amount: 2_500, category: 'meals' })
    .yields(['itemChanged', { itemId: 2, amount: 2_500 }]);
  given(claim, ...two)
    .when('changeItem', { itemId: 2, ...lunch })
    .changesNothing();
  given(claim, ...two)
    .when('changeItem', { itemId: 3, amount: 1 })
    .refuses('claim_item_not_found', 'There is no such claim item.');
});

test('a move changes only the rank of the moved item, before another item or to the end', () => {
  const three = [...two, added(3, train, 'a2')] as const;
  given(claim, ...three)
    .when('moveItem', { itemId: 3, before: 1 })
    .yields(['itemMoved', { itemId: 3, rank: 'Zz' }]);
  given(claim, ...three)
    .when('moveItem', { itemId: 3, before: 2 })
    .yields(['itemMoved', { itemId: 3, rank: 'a0V' }]);
  given(claim, ...three)
    .when('moveItem', { itemId: 1, before: null })
    .yields(['itemMoved', { itemId: 1, rank: 'a3' }]);
  for (const before of [2, 1])
    given(claim, ...three)
      .when('moveItem', { itemId: 1, before })
      .changesNothing();
  given(claim, ...three)
    .when('moveItem', { itemId: 3, before: null })
    .changesNothing();
  given(claim, ...three)
    .when('moveItem', { itemId: 1, before: 9 })
    .refuses('claim_item_not_found');
});

test('a move beside ranks that imports wrote stores valid ones', () => {
  const imported = [drafted, added(1, train, 'a0'), added(2, train, 'a00'), added(3, lunch, 'zz')] as const;
  given(claim, ...imported)
    .when('moveItem', { itemId: 1, before: null })
    .yields(['itemMoved', { itemId: 1, rank: 'zzV' }]);
  given(claim, ...imported)
    .when('moveItem', { itemId: 3, before: 2 })
    .yields(
      ['itemMoved', { itemId: 1, rank: 'a0' }],
      ['itemMoved', { itemId: 3, rank: 'a1' }],
      ['itemMoved', { itemId: 2, rank: 'a2' }],
    );
});

test('ranks that grew too long are all shortened', () => {
  const long = `a0${'0'.repeat(47)}1`;
  given(claim, drafted, added(1, train, 'a0'), added(2, train, long), added(3, train, 'a1'))
    .when('moveItem', { itemId: 3, before: 2 })
    .yields(
      ['itemMoved', { itemId: 1, rank: 'a0' }],
      ['itemMoved', { itemId: 3, rank: 'a1' }],
      ['itemMoved', { itemId: 2, rank: 'a2' }],
    );
});

test.each(['a0', undefined])(
  'what has the rank %s, as another has, is in the order of its number, until all get one',
  (rank) => {
    const same = (itemId: number) => ['itemAdded', { itemId, ...train, rank }] as const;
    given(claim, drafted, same(1), same(2), same(3))
      .when('moveItem', { itemId: 3, before: 2 })
      .yields(
        ['itemMoved', { itemId: 1, rank: 'a0' }],
        ['itemMoved', { itemId: 3, rank: 'a1' }],
        ['itemMoved', { itemId: 2, rank: 'a2' }],
      );
  },
);

test('a second removal changes nothing, and an unknown item is not found', () => {
  given(claim, ...two)
    .when('removeItem', { itemId: 1 })
    .yields(['itemRemoved', { itemId: 1 }]);
  given(claim, ...two, ['itemRemoved', { itemId: 1 }])
    .when('removeItem', { itemId: 1 })
    .changesNothing();
  given(claim, ...two)
    .when('removeItem', { itemId: 3 })
    .refuses('claim_item_not_found');
});

test('a key identifies at most one item', () => {
  const named = ['approverNamed', { approverId: 5, upTo: null }] as const;
  given(claim, drafted).when('nameApprover', { approverId: 5, upTo: null }).yields(named);
  given(claim, drafted, named).when('nameApprover', { approverId: 5, upTo: null }).changesNothing();
  given(claim, drafted, named)
    .when('nameApprover', { approverId: 5, upTo: 9 })
    .refuses('claim_approver_exists', 'The claim approver already exists.');
  given(claim, drafted, named)
    .when('changeLimit', { approverId: 5, upTo: 9 })
    .yields(['limitChanged', { approverId: 5, upTo: 9 }]);
  given(claim, drafted, named).when('dismissApprover', { approverId: 6 }).refuses('claim_approver_not_found');
});

test('sums and counts derive from the items, for guards, carried values and invariants', () => {
  given(claim, drafted).when('submit').refuses('claim_not_filled');
  given(claim, ...two, ['itemChanged', { itemId: 2, amount: 500 }], ['itemMoved', { itemId: 2, rank: 'Zz' }])
    .when('submit')
    .yields(['submitted', { total: 9_500 }]);
  given(claim, ...two, ['itemRemoved', { itemId: 1 }])
    .when('submit')
    .yields(['submitted', { total: 2_000 }]);
  const much = { ...train, amount: 1_000_000 };
  given(claim, ...two, added(3, much, 'a2'))
    .when('addItem', much)
    .refuses('claim_not_affordable');
});

test('the guard of an item command is checked', () => {
  given(claim, ...two, ['submitted', {}])
    .when('removeItem', { itemId: 1 })
    .refuses('claim_not_draft');
});

test('the state keeps its items in order, and drops them at the end', () => {
  const evolve = evolveOf(expenses.kinds.claim as never);
  const happened = (name: string, data: object): Happened => ({
    type: `claim.${name}`,
    data: { claimId: ID, employeeId: OWNER, ...data },
  });
  const state = [
    happened('drafted', { purpose: 'One' }),
    happened('itemAdded', { itemId: 1, ...train, rank: 'a0' }),
    happened('itemAdded', { itemId: 2, ...lunch, rank: 'a1' }),
    happened('itemMoved', { itemId: 2, rank: 'Zz' }),
    happened('itemChanged', { itemId: 1, amount: 1 }),
    happened('labelAdded', { word: 'b', colour: null }),
    happened('labelAdded', { word: 'a', colour: 'red' }),
  ].reduce(evolve, ABSENT);
  expect(state).toMatchObject({
    fields: {
      items: [
        { id: 2, ...lunch, rank: 'Zz' },
        { id: 1, ...train, amount: 1, rank: 'a0' },
      ],
      labels: [
        { id: 'a', word: 'a', colour: 'red' },
        { id: 'b', word: 'b', colour: null },
      ],
      approvers: [],
    },
  });
  const ended = evolve(state, happened('deleted', {}));
  expect(
    ended.status === 'ended' && itemsOf(ended.fields, expenses.kinds.claim?.lists.items as never),
  ).toEqual([]);
  // Events of an absent aggregate change nothing.
  expect(evolve(ABSENT, happened('itemAdded', { itemId: 1, ...train, rank: 'a0' }))).toEqual(ABSENT);
});
