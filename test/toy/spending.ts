import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, date, instant, integer, line, month, ref, states, week } from '#kernel/declare/fields.ts';
import { avg, latest, max, min, sum } from '#kernel/declare/view.ts';

/**
 * A domain with views over its aggregates: by a reference, by several fields, of one aggregate and of two.
 */
const base = domain({
  name: 'spending',
  roles: ['employee', 'approver', 'accountant'],
  user: { read: { anyone: true } },
});
const { aggregate, user, view } = base;

const team = aggregate('team', {
  label: 'name',
  fields: { name: line(100).example('Field work'), approver: ref(user), budget: integer(0, 1_000_000) },
  events: {
    opened: { creates: ['name', 'approver', 'budget'] },
    edited: { changes: ['name', 'approver', 'budget'] },
    closed: { ends: true },
  },
  commands: { open: { emits: 'opened' }, edit: { emits: 'edited' }, close: { emits: 'closed' } },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
});

const request = aggregate('request', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    team: ref(team).optional(),
    purpose: line(200),
    category: choice('travel', 'meals', 'other'),
    amount: integer(1, 1_000_000),
    status: states('draft', 'submitted', 'approved', 'rejected', 'paid'),
    paidAt: instant().optional(),
    neededOn: date().optional(),
    weight: integer(0, 9).optional(),
  },
  events: {
    drafted: { creates: ['team', 'purpose', 'category', 'amount', 'neededOn', 'weight'] },
    edited: { changes: ['team', 'purpose', 'category', 'amount', 'neededOn', 'weight'] },
    submitted: { sets: { status: 'submitted' }, carries: ['team', 'category', 'amount'] },
    rejected: { sets: { status: 'rejected' } },
    approved: { sets: { status: 'approved' }, carries: ['team', 'category', 'amount'] },
    paid: { sets: { status: 'paid', paidAt: 'now' }, carries: ['team', 'category', 'amount'] },
    reminded: {},
    deleted: { ends: true },
  },
  commands: {
    draft: { emits: 'drafted' },
    edit: { emits: 'edited' },
    submit: { emits: 'submitted', when: ['draft', 'rejected'] },
    reject: { emits: 'rejected', when: 'submitted' },
    approve: { emits: 'approved', when: 'submitted' },
    pay: { emits: 'paid', when: 'approved' },
    remind: { emits: 'reminded' },
    delete: { emits: 'deleted' },
  },
  rights: { read: { employee: 'own', approver: true, accountant: true }, write: { signedIn: true } },
  reactions: { employee: { deleted: { run: 'delete' } } },
});

/** The part of its budget that a team has spent. */
const spending = view('spending', {
  says: 'The money that a team has spent of its budget.',
  of: [team, request],
  key: { team: ref(team) },
  values: {
    budget: sum().says('What it may spend.'),
    waiting: sum().says('Requests that wait for a decision.').sort(),
    approved: sum(),
    paid: sum().sort(),
    reminders: sum().says('How often its waiting requests were called to mind.'),
    lastPaidAt: latest(instant().says('When it was paid something last.').sort()),
    lastPurpose: latest(choice('travel', 'meals', 'other')),
  },
  from: {
    team: {
      by: { team: 'id' },
      on: { opened: { gives: { budget: 'budget' } }, edited: { changes: { budget: 'budget' } } },
    },
    request: {
      by: { team: 'team' },
      on: {
        submitted: { gives: { waiting: 1 } },
        reminded: { adds: { reminders: 1 } },
        rejected: { gives: null },
        approved: { changes: { waiting: 0, approved: 'amount' } },
        paid: { gives: { paid: 'amount', lastPaidAt: 'now', lastPurpose: 'category' } },
      },
    },
  },
  read: { approver: { team: { approver: 'caller' } }, accountant: true },
});

/** Of whom how much is asked for what, in the state in which it is. */
const asking = view('asking', {
  of: [request],
  key: { employee: ref(user), category: choice('travel', 'meals', 'other') },
  values: { requests: sum(), amount: sum(), owed: sum(), lastAskedAt: latest(instant()) },
  from: {
    request: {
      by: { employee: 'employee', category: 'category' },
      on: {
        drafted: { gives: { requests: 1, amount: 'amount', owed: '-amount', lastAskedAt: 'now' } },
        edited: { changes: { amount: 'amount' } },
        submitted: { changes: { lastAskedAt: 'now' }, adds: { owed: 'amount' } },
      },
    },
  },
  read: { employee: { employee: 'caller' }, accountant: true },
});

/** When was paid how much, by the month of the payment. */
const paying = view('paying', {
  says: 'What a team was paid in a month.',
  of: [request],
  key: { month: month(), team: ref(team) },
  values: {
    paid: sum().sort(),
    average: avg().says('The average amount of a request.').sort(),
    lowest: min(integer(1, 1_000_000)),
    highest: max(integer(1, 1_000_000).sort()),
    first: min(instant().sort()),
    last: max(instant()),
  },
  from: {
    request: {
      by: { month: 'paidAt', team: 'team' },
      on: {
        paid: {
          gives: {
            ...{ paid: 'amount', average: 'amount', lowest: 'amount', highest: 'amount' },
            ...{ first: 'now', last: 'now' },
          },
        },
        edited: {
          changes: { paid: 'amount', average: 'amount', lowest: 'amount', highest: 'amount' },
        },
      },
    },
  },
  read: { approver: { team: { approver: 'caller' } }, accountant: true },
});

/** How much is asked for in a week, and for which days it is needed. */
const needing = view('needing', {
  of: [request],
  key: { askedIn: week(), neededOn: date() },
  values: { requests: sum().sort(), weight: avg(), firstNeededOn: min(date()) },
  from: {
    request: {
      by: { askedIn: 'now', neededOn: 'neededOn' },
      on: {
        drafted: { gives: { requests: 1, weight: 'weight', firstNeededOn: 'neededOn' } },
        edited: { changes: { weight: 'weight', firstNeededOn: 'neededOn' } },
      },
    },
  },
  read: { accountant: true },
});

export const spendingDomain = assemble(base, [team, request], [spending, asking, paying, needing]);
