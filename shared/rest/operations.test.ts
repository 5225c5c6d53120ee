import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { OPERATIONS_OF_THE_KERNEL } from '#kernel/assembly/demand-operations.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import { sum } from '#kernel/declare/view.ts';
import { withParts } from '#kernel/registry/parts.ts';
import { aggregateOperations } from '#kernel/rest/operations.ts';
import { REFUSED_MESSAGES } from '#kernel/sender/refused-messages.ts';
import { EVERY_PART } from '../../parts.ts';
import { operationsOf } from './operations.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { view } = base;
const named = (name: string) =>
  base.aggregate(name, {
    fields: { title: line(9) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  });

const RECEIVING = { operationId: 'receiveBank', operation: { method: 'POST', path: '/inbox/bank' } };

test('the declaration knows the ids of all operations of the kernel', () => {
  const note = named('note');
  const served = withParts(
    { ...assemble(base, [note]), senders: [{ ...RECEIVING, listing: REFUSED_MESSAGES } as never] },
    EVERY_PART.map(({ name }) => name),
  );
  const own = [...Object.keys(aggregateOperations(served)), RECEIVING.operationId];
  const others = Object.keys(operationsOf(served)).filter((id) => !own.includes(id));
  expect(others.toSorted()).toEqual([...OPERATIONS_OF_THE_KERNEL].toSorted());
});

test('an aggregate or a view with an operation of the kernel is refused in the declaration', () => {
  expect(() => assemble(base, [named('order')])).toThrow(
    "order: the kernel has an operation listOrders of its own: give the aggregate another name or plural; `names: { graphql: 'Order' }` keeps its name in GraphQL.",
  );
  const note = named('note');
  const attempts = view('attempts', {
    of: [note],
    key: { title: line(9) },
    values: { notes: sum() },
    from: { note: { by: { title: 'title' }, on: { made: { gives: { notes: 1 } } } } },
    read: { anyone: true },
  });
  expect(() => assemble(base, [note], [attempts])).toThrow(
    'attempts: there already is an operation listAttempts: give the view another name.',
  );
});
