import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { rulesOf } from '../decide/given.ts';
import { domain } from '../declare/domain.ts';
import { line, ref } from '../declare/fields.ts';

const base = domain({ name: 'desk', roles: ['customer', 'agent'] });
const { aggregate, user } = base;

const ticketWith = (related: string) =>
  aggregate('ticket', {
    owner: 'customer',
    fields: {
      customer: ref(user),
      subject: line(20),
      assignee: ref(user).optional(),
      related: ref('ticket').optional(),
    },
    events: { opened: { creates: ['subject'] }, joined: { changes: ['related', 'assignee'] } },
    facts: {
      alike: [{ related: null }, { related: { [related]: { field: 'customer' } } }],
      manned: [{ assignee: null }, { assignee: 'agent' }, { assignee: { role: 'admin' } }],
    },
    invariants: { alike: 'alike', manned: 'manned' },
    commands: {
      open: { emits: 'opened' },
      join: {
        emits: 'joined',
        reads: ['related'],
        refuses: { chained: 'The other ticket is related itself.' },
        decide: ({ reads, refuse }) => (reads.related?.related === null ? ['joined'] : refuse('chained')),
      },
    },
    rights: { read: { agent: true }, write: { agent: true } },
  });
const ticket = ticketWith('customer');
const { given } = rulesOf(assemble(base, [ticket]));
const opened = (ticketId: number, customerId: number) =>
  ['opened', { ticketId, customerId, subject: 'Smoke' }] as const;

test('a condition and a decision can use the target of a reference by name', () => {
  const joining = (customer: number) =>
    given(ticket, opened(8, 1))
      .beside({ ticket: given(ticket, opened(9, customer)).state })
      .when('join', { relatedId: 9 });
  joining(1).yields(['joined', { relatedId: 9 }]);
  joining(2).refuses('ticket_not_alike');
});

test('the start checks such a condition', () =>
  expect(() => assemble(base, [ticketWith('costumer')])).toThrow('costumer'));
