import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref, states } from '#kernel/declare/fields.ts';

/**
 * A domain with timers: a reminder, another one after it, and a service level that waits for the customer.
 */
const base = domain({ name: 'requests', roles: ['customer', 'agent'] });
const { aggregate, user } = base;

const request = aggregate('request', {
  owner: 'customer',
  fields: {
    customer: ref(user),
    subject: line(100),
    status: states('open', 'waiting', 'solved'),
    urgency: states('usual', 'reminded', 'escalated', 'breached'),
  },
  events: {
    asked: { creates: ['subject'] },
    returned: { sets: { status: 'waiting' } },
    answered: { sets: { status: 'open' } },
    solved: { sets: { status: 'solved' } },
    reopened: { sets: { status: 'open' } },
    reminded: { sets: { urgency: 'reminded' } },
    escalated: { sets: { urgency: 'escalated' } },
    breached: { sets: { urgency: 'breached' } },
    closed: { ends: true },
  },
  commands: {
    ask: { emits: 'asked' },
    return: { emits: 'returned' },
    answer: { emits: 'answered' },
    solve: { emits: 'solved' },
    reopen: { emits: 'reopened' },
    remind: { emits: 'reminded', internal: true },
    escalate: { emits: 'escalated', internal: true },
    breach: { emits: 'breached', internal: true },
    close: { emits: 'closed' },
  },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
  timers: {
    remind: { after: 'asked', wait: '3 days', run: 'remind', unless: 'solved' },
    escalate: { after: 'reminded', wait: '1 day', run: 'escalate', while: 'open' },
    breach: { after: 'asked', wait: '40 hours', run: 'breach', unless: 'solved', pause: 'waiting' },
  },
});

export const requests = assemble(base, [request]);
