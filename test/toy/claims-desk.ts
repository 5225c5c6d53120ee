import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, list, prose, ref, states } from '#kernel/declare/fields.ts';
import { latest, sum } from '#kernel/declare/view.ts';

/**
 * A domain with rows in every table of an installation: items of lists, personal fields, a search, a view,
 * children, references with reactions, and timers.
 */
const base = domain({ name: 'claims-desk', roles: ['customer', 'agent'] });
const { aggregate, user, view } = base;

const team = aggregate('team', {
  label: 'name',
  fields: { name: line(100), lead: ref(user) },
  events: { opened: { creates: ['name', 'lead'] }, closed: { ends: true } },
  commands: { open: { emits: 'opened' }, close: { emits: 'closed' } },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
});

const claim = aggregate('claim', {
  owner: 'customer',
  fields: {
    customer: ref(user),
    team: ref(team).optional(),
    subject: line(100).search('A'),
    details: prose(2_000).personal({ erased: '[deleted]' }),
    amount: integer(1, 1_000_000),
    messages: list({ text: line(200) }, { max: 20 }),
    status: states('open', 'waiting', 'solved'),
    urgency: states('usual', 'reminded'),
  },
  events: {
    made: { creates: ['team', 'subject', 'details', 'amount'], subscribe: true },
    edited: { changes: ['team', 'subject', 'details', 'amount'], subscribe: true },
    answered: { adds: 'messages', subscribe: true },
    returned: { sets: { status: 'waiting' } },
    solved: { sets: { status: 'solved' }, subscribe: true },
    reminded: { sets: { urgency: 'reminded' } },
    withdrawn: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    edit: { emits: 'edited' },
    answer: { emits: 'answered' },
    return: { emits: 'returned' },
    solve: { emits: 'solved' },
    remind: { emits: 'reminded', internal: true },
    withdraw: { emits: 'withdrawn' },
  },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
  reactions: { customer: { deleted: { run: 'withdraw' } }, team: { closed: { run: 'withdraw' } } },
  timers: {
    remind: {
      after: 'made',
      wait: '3 days',
      run: 'remind',
      when: { solved: false },
      pause: 'waiting',
    },
  },
});

const note = aggregate('note', {
  parent: 'claim',
  owner: 'author',
  fields: { claim: ref(claim), author: ref(user), text: line(200) },
  events: { written: { creates: ['text'] }, removed: { ends: true } },
  commands: { add: { emits: 'written' }, remove: { emits: 'removed' } },
  rights: { read: { as: 'claim' }, write: { signedIn: true } },
  reactions: { claim: { withdrawn: { run: 'remove' } } },
});

const load = view('load', {
  of: [claim],
  key: { team: ref(team) },
  values: { claims: sum().sort(), amount: sum(), lastAmount: latest(integer(1, 1_000_000)) },
  from: {
    claim: {
      by: { team: 'team' },
      on: {
        made: { gives: { claims: 1, amount: 'amount', lastAmount: 'amount' } },
        edited: { changes: { amount: 'amount', lastAmount: 'amount' } },
      },
    },
  },
  read: { signedIn: true },
});

export const claimsDesk = assemble(base, [team, claim, note], [load]);
