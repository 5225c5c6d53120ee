import { rulesOf } from 'annals/testing';
import { test } from 'vitest';
import { claim } from '../examples/expenses/domain/claim.ts';
import { expenses } from '../examples/expenses/domain/domain.ts';

const { given } = rulesOf(expenses);
const drafted = ['drafted', { teamId: 3, purpose: 'Strasbourg' }] as const;
const item = (amount: number) =>
  [
    'itemAdded',
    { itemId: 1, spentOn: '2026-11-20', category: 'travel', amount, note: null, rank: 'a0' },
  ] as const;
const submitted = ['submitted', { teamId: 3, total: 1 }] as const;

test('a claim without items cannot be submitted', () =>
  given(claim, drafted).when('submit').refuses('claim_not_filled', 'The claim has no items.'));
test('a submitted claim cannot be changed', () =>
  given(claim, drafted, item(1), submitted).when('edit', { purpose: 'Lyon' }).refuses('claim_not_open'));
test('one approval is enough below 1,000.00', () =>
  given(claim, drafted, item(99_999), submitted)
    .when('approve')
    .yields(['approved', { teamId: 3, total: 99_999 }]));
test('a larger claim needs two', () => {
  given(claim, drafted, item(100_000), submitted).when('approve').yields('endorsed');
  given(claim, drafted, item(100_000), submitted, 'endorsed')
    .when('approve')
    .yields(['approved', { teamId: 3, total: 100_000 }]);
});
test('a claim of more than 20,000.00 is refused', () =>
  given(claim, drafted)
    .when('addItem', { spentOn: '2026-11-20', category: 'travel', amount: 2_000_001 })
    .refuses('claim_not_affordable'));
test('an undecided claim causes a reminder, and then any approver may decide', () => {
  given(claim, drafted, item(1), submitted).when('remind').yields('reminded');
  given(claim, drafted, item(1), submitted, 'reminded').when('escalate').yields('escalated');
  given(claim, drafted, item(1), submitted, ['approved', { teamId: 3, total: 1 }])
    .when('remind')
    .refuses('claim_not_submitted');
});
