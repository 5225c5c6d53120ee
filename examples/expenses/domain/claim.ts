import { choice, date, file, flag, instant, integer, line, list, prose, ref, states } from 'annals';
import { aggregate, user } from './base.ts';
import { team } from './team.ts';

/** In cents; from this total on, two approvers decide. */
const SECOND_APPROVAL_FROM = 100_000;
const TOTAL_MAX = 2_000_000;

const item = {
  spentOn: date().example('2026-03-09'),
  category: choice('travel', 'meals', 'lodging', 'other'),
  amount: integer(1, 1_000_000_000).says('In cents.').example(4_200),
  note: line(200).optional().personal().example('With the client'),
  receipt: file({ types: ['application/pdf', 'image/png', 'image/jpeg'], bytesMax: 5_000_000 })
    .optional()
    .says('Visible to everyone who can read the claim.'),
};

/** Nobody decides about their own claim, or twice about the same one. */
const notInvolved = { own: false, endorsedByMe: false } as const;
const deciders = {
  // An approver of the team; any other if a second one is needed, or nobody has decided for long.
  approver: [
    { ...notInvolved, ofMyTeam: true },
    { ...notInvolved, endorsed: true },
    { ...notInvolved, late: true },
  ],
  admin: notInvolved,
} as const;

export const claim = aggregate('claim', {
  says: 'Money that an employee has spent and wants back.',
  owner: 'employee',
  label: 'purpose',
  fields: {
    employee: ref(user),
    team: ref(team).filter(),
    purpose: line(200).personal({ erased: '[deleted]' }).example('Strasbourg'),
    items: list(item, { max: 50 }),
    status: states('draft', 'submitted', 'approved', 'rejected', 'paid').filter(),
    submittedAt: instant().optional().sort(),
    endorsedBy: ref(user).optional().says('The first of two approvers, if the claim needs two.'),
    decidedBy: ref(user).optional(),
    reason: prose(1_000).optional().personal().says('Why it was rejected.'),
    paidBy: ref(user).optional(),
    remindedAt: instant().optional(),
    late: flag().default(false).says('Nobody has decided for six days, so any approver may.'),
  },
  derived: { total: { sum: 'items.amount' }, itemCount: { count: 'items' } },
  events: {
    drafted: { creates: ['team', 'purpose'] },
    edited: { changes: ['team', 'purpose'] },
    itemAdded: { adds: 'items' },
    itemChanged: { updates: 'items' },
    itemRemoved: { removes: 'items' },
    submitted: {
      sets: { status: 'submitted', submittedAt: 'now', endorsedBy: null, remindedAt: null, late: false },
      carries: ['team', 'total'],
      subscribe: true,
    },
    endorsed: { sets: { endorsedBy: 'caller' } },
    approved: { sets: { status: 'approved', decidedBy: 'caller' }, carries: ['team', 'total'] },
    rejected: { changes: ['reason'], sets: { status: 'rejected', decidedBy: 'caller' } },
    paid: { sets: { status: 'paid', paidBy: 'caller' }, carries: ['team', 'total'] },
    reminded: { sets: { remindedAt: 'now' }, subscribe: true },
    escalated: { sets: { late: true }, subscribe: true },
    deleted: { ends: true },
  },
  facts: {
    open: { when: ['draft', 'rejected'], says: 'The claim was submitted and cannot be changed.' },
    filled: { when: { itemCount: { min: 1 } }, says: 'The claim has no items.' },
    affordable: { when: { total: { max: TOTAL_MAX } }, says: 'A claim can be at most 20,000.00.' },
    ofMyTeam: { draft: false, team: { approver: 'caller' } },
    endorsed: { endorsedBy: { not: null } },
    endorsedByMe: { endorsedBy: 'caller' },
  },
  invariants: { affordable: 'affordable' },
  commands: {
    draft: { emits: 'drafted' },
    edit: { emits: 'edited', when: 'open' },
    addItem: { emits: 'itemAdded', when: 'open' },
    changeItem: { emits: 'itemChanged', when: 'open' },
    removeItem: { emits: 'itemRemoved', when: 'open' },
    submit: { emits: 'submitted', when: { open: true, filled: true } },
    approve: {
      emits: ['endorsed', 'approved'],
      when: 'submitted',
      confirm: 'person',
      decide: ({ state }) =>
        state.total >= SECOND_APPROVAL_FROM && state.endorsedBy === null ? ['endorsed'] : ['approved'],
    },
    reject: { emits: 'rejected', when: 'submitted', requires: ['reason'] },
    pay: { emits: 'paid', when: 'approved' },
    remind: { emits: 'reminded', when: 'submitted', internal: true },
    escalate: { emits: 'escalated', when: 'submitted', internal: true },
    delete: { emits: 'deleted', when: 'open' },
  },
  rights: {
    read: {
      employee: 'own',
      approver: ['own', 'ofMyTeam', 'endorsed', { late: true }],
      accountant: ['own', 'approved', 'paid'],
    },
    write: { signedIn: 'own', admin: false },
    approve: { scope: 'approve', ...deciders },
    reject: { scope: 'approve', ...deciders },
    pay: { scope: 'pay', accountant: { own: false }, admin: false },
  },
  reactions: { employee: { deleted: { run: 'delete', when: 'open' } } },
  timers: {
    remind: { after: 'submitted', wait: '3 days', run: 'remind', when: 'submitted' },
    escalate: { after: 'reminded', wait: '3 days', run: 'escalate', when: 'submitted' },
  },
});
