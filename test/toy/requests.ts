import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, instant, line, ref, states } from '#kernel/declare/fields.ts';

/**
 * A domain with timers: a reminder, another one after it, a service level by priority that waits for the
 * customer, and a warning before the promised time.
 */
const base = domain({ name: 'requests', roles: ['customer', 'agent'] });
const { aggregate, user } = base;

const request = aggregate('request', {
  owner: 'customer',
  fields: {
    customer: ref(user),
    subject: line(100),
    priority: choice('normal', 'urgent').default('normal'),
    promisedAt: instant().optional(),
    status: states('open', 'waiting', 'solved'),
    urgency: states('usual', 'reminded', 'escalated', 'breached'),
  },
  events: {
    asked: { creates: ['subject', 'priority'] },
    changed: { changes: ['priority', 'promisedAt'] },
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
    change: { emits: 'changed' },
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
    remind: { after: 'asked', wait: '3 days', run: 'remind', when: { solved: false } },
    escalate: { after: 'reminded', wait: '1 day', run: 'escalate', when: 'open' },
    breach: {
      after: 'asked',
      wait: { priority: { normal: '40 hours', urgent: '4 hours' } },
      run: 'breach',
      when: { solved: false },
      pause: 'waiting',
    },
    warn: { at: 'promisedAt', before: '1 hour', run: 'escalate', when: { solved: false } },
  },
});

export const requests = assemble(base, [request]);
