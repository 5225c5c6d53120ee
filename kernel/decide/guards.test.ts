import { test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, ref, states } from '../declare/fields.ts';
import { OWNER, rulesOf } from './given.ts';

const base = domain({ name: 'orders', roles: ['buyer'] });
const { aggregate, user } = base;
const budget = aggregate('costCentre', {
  fields: { name: line(10), status: states('open', 'spent') },
  events: { opened: { creates: ['name'] }, spent: { sets: { status: 'spent' } }, shut: { ends: true } },
  facts: { open: { says: 'The budget is spent.' } },
  commands: { open: { emits: 'opened' }, spend: { emits: 'spent' }, shut: { emits: 'shut' } },
  rights: { read: { anyone: true } },
});
const order = aggregate('purchaseOrder', {
  parent: 'costCentre',
  owner: 'buyer',
  fields: {
    costCentre: ref(budget),
    buyer: ref(user),
    amount: integer(0, 100),
    status: states('draft', 'sent'),
  },
  events: {
    made: { creates: ['amount'] },
    changed: { changes: ['amount'] },
    taken: { changes: ['amount'], sets: { status: 'draft' } },
    sent: { sets: { status: 'sent' } },
    dropped: { ends: true },
  },
  facts: {
    draft: { says: 'The order was sent and cannot be changed.' },
    small: { when: { amount: { max: 10 } }, says: 'Somebody must approve it.' },
    notEmpty: { amount: { min: 1 } },
  },
  invariants: { withinLimit: 'small', hasAmount: 'notEmpty' },
  commands: {
    make: { emits: 'made', when: { costCentre: 'open' } },
    change: { emits: 'changed', when: 'draft' },
    send: { emits: 'sent', when: { draft: true, notEmpty: true } },
    drop: { emits: 'dropped', when: [{ sent: false }, { buyer: 'caller' }] },
    take: { emits: 'taken', when: { buyer: 'caller' } },
  },
  rights: { read: { anyone: true } },
});
const orders = assemble(base, [budget, order]);
const { given } = rulesOf(orders);
const made = ['made', { amount: 5 }] as const;
const opened = ['opened', { name: 'One' }] as const;

const before = { costCentre: given(budget, opened).state };

test('a guard refuses with the code of its fact, derived or declared', () => {
  given(order, made, 'sent')
    .when('change', { amount: 6 })
    .refuses('purchase_order_not_draft', 'The order was sent and cannot be changed.');
  given(order, ['made', { amount: 0 }])
    .when('send')
    .refuses('purchase_order_not_not_empty', 'The purchase order is not not empty.');
});

test('a guard that is no single fact refuses with “not ready”', () => {
  const theirs = { buyerId: OWNER + 1 };
  given(order, made, 'sent').when('drop').yields('dropped');
  given(order, ['made', { amount: 5, ...theirs }], ['sent', theirs])
    .when('drop', theirs)
    .refuses('purchase_order_not_ready');
});

test('a guard on a reference refuses with the code of its target', () => {
  const making = (costCentre: ReturnType<typeof given<typeof budget>>['state']) =>
    given(order).beside({ costCentre }).when('make', { amount: 5 });
  making(before.costCentre).yields(made);
  making(given(budget).state).refuses('cost_centre_not_found', 'There is no such cost centre.');
  making(given(budget, opened, 'shut').state).refuses('cost_centre_deleted', 'The cost centre was deleted.');
  making(given(budget, opened, 'spent').state).refuses('cost_centre_not_open', 'The budget is spent.');
});

test('an invariant refuses with the code of its fact, or with its own name', () => {
  given(order)
    .beside(before)
    .when('make', { amount: 11 })
    .refuses('purchase_order_not_small', 'Somebody must approve it.');
  given(order)
    .beside(before)
    .when('make', { amount: 0 })
    .refuses('purchase_order_not_has_amount', 'The purchase order is not has amount.');
});

test('a caller whom the guard does not name gets “not ready”', () => {
  given(order, ['made', { amount: 5, buyerId: OWNER + 1 }])
    .when('take', { amount: 6 })
    .refuses('purchase_order_not_ready');
});
