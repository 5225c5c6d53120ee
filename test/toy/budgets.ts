import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, ref, states } from '#kernel/declare/fields.ts';

/** A domain whose aggregates react to each other: by references, and by code. */
const base = domain({
  name: 'budgets',
  roles: ['employee', 'accountant'],
  user: { read: { anyone: true } },
});
const { aggregate, user } = base;
const anyone = { read: { signedIn: true }, write: { signedIn: true } } as const;

const team = aggregate('team', {
  fields: { name: line(100), spent: integer(0, 1_000).optional(), status: states('open', 'closed') },
  events: {
    founded: { creates: ['name'] },
    closed: { sets: { status: 'closed' } },
    reopened: { sets: { status: 'open' } },
    booked: { changes: ['spent'] },
    dissolved: { ends: true },
  },
  commands: {
    found: { emits: 'founded' },
    close: { emits: 'closed' },
    reopen: { emits: 'reopened' },
    book: { emits: 'booked', when: 'open', internal: true },
    dissolve: { emits: 'dissolved' },
  },
  rights: anyone,
});

const payment = aggregate('payment', {
  owner: 'payee',
  fields: { payee: ref(user), amount: integer(1, 100), status: states('due', 'paid') },
  events: { opened: { creates: ['amount'] }, paid: { sets: { status: 'paid' } } },
  commands: { open: { emits: 'opened', when: { payee: { role: 'employee' } } }, pay: { emits: 'paid' } },
  rights: anyone,
});

const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    team: ref(team),
    amount: integer(1, 100),
    purpose: line(100).personal(),
    status: states('open', 'submitted', 'approved', 'withdrawn'),
  },
  events: {
    made: { creates: ['team', 'amount', 'purpose'] },
    moved: { changes: ['team'] },
    submitted: { sets: { status: 'submitted' } },
    approved: { sets: { status: 'approved' } },
    withdrawn: { sets: { status: 'withdrawn' } },
    deleted: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    move: { emits: 'moved' },
    submit: { emits: 'submitted', when: 'open' },
    approve: { emits: 'approved', when: 'submitted' },
    withdraw: { emits: 'withdrawn' },
    delete: { emits: 'deleted' },
  },
  rights: anyone,
  reactions: {
    team: { closed: { run: 'withdraw', when: ['open', 'submitted'] }, dissolved: { run: 'withdraw' } },
    employee: { deleted: { run: 'delete', when: 'open' } },
    approved: ({ state, run }) => [
      run(team, 'book', { id: state.team, form: { spent: state.amount } }),
      run(payment, 'open', { form: { payeeId: state.employee, amount: state.amount } }),
    ],
  },
});

export const budgets = assemble(base, [team, claim, payment]);
