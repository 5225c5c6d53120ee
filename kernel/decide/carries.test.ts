import { test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { instant, integer, line, list, ref, states } from '../declare/fields.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'trips', roles: ['member'] });
const { aggregate, user } = base;
const trip = aggregate('trip', {
  owner: 'owner',
  fields: {
    owner: ref(user),
    title: line(20),
    amount: integer(0, 99),
    paidAt: instant().optional(),
    costs: list({ amount: integer(0, 99) }, { max: 3 }),
    status: states('open', 'done'),
  },
  derived: { total: { sum: 'costs.amount' } },
  events: {
    made: { creates: ['title', 'amount'] },
    edited: { changes: ['title', 'amount'], carries: ['amount'] },
    costAdded: { adds: 'costs', carries: ['total'] },
    costRemoved: { removes: 'costs', carries: ['total'] },
    finished: { sets: { status: 'done', paidAt: 'now' }, carries: ['status', 'paidAt', 'amount'] },
    dropped: { ends: true, carries: ['amount'] },
  },
  commands: {
    make: { emits: 'made' },
    edit: { emits: 'edited' },
    addCost: { emits: 'costAdded' },
    removeCost: { emits: 'costRemoved' },
    finish: { emits: 'finished' },
    drop: { emits: 'dropped' },
  },
  rights: { read: { anyone: true }, write: { member: 'own' } },
});
const { given } = rulesOf(assemble(base, [trip]));
const made = ['made', { title: 'a', amount: 1 }] as const;
const added = ['costAdded', { costId: 1, amount: 40, total: 40 }] as const;

test('an event carries a changed field with its new value, and records the requested one', () => {
  given(trip, made)
    .when('edit', { amount: 5 })
    .yields(['edited', { amount: 5 }]);
});
test('an event carries an unchanged field with its current value', () => {
  given(trip, made)
    .when('edit', { title: 'b' })
    .yields(['edited', { title: 'b', amount: 1 }]);
});
test('an event carries a derived number with the added item counted, and the removed one not', () => {
  given(trip, made, added)
    .when('addCost', { amount: 37 })
    .yields(['costAdded', { costId: 2, amount: 37, total: 77 }]);
  given(trip, made, added)
    .when('removeCost', { costId: 1 })
    .yields(['costRemoved', { costId: 1, total: 0 }]);
});
test('an event carries the values that it sets, timestamps included', () => {
  const at = '2026-01-02T03:04:05.678Z';
  given(trip, made)
    .when('finish')
    .yields(['finished', { status: 'done', paidAt: at, amount: 1 }]);
});
test('the event that ends an aggregate carries the last values', () => {
  given(trip, made)
    .when('drop')
    .yields(['dropped', { amount: 1 }]);
});
