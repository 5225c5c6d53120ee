import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, instant, integer, line, list, ref, states } from '#kernel/declare/fields.ts';

/**
 * A domain of one aggregate with parts that only some of its readers may read: fields, a list with its total,
 * and some items of another.
 */
const base = domain({
  name: 'support',
  roles: ['customer', 'agent', 'lead'],
  user: { read: { anyone: true } },
});
const { aggregate, user } = base;

const ticket = aggregate('ticket', {
  owner: 'customer',
  fields: {
    customer: ref(user),
    subject: line(120).search('A').example('The printer burns'),
    priority: integer(1, 9).optional().filter().example(3),
    assignee: ref(user).optional().filter(),
    triagedAt: instant().optional().sort(),
    budget: integer(0, 1_000).optional().filter(),
    notes: list(
      { text: line(200).example('It is the toner.'), internal: flag().default(false) },
      { max: 20, ordered: true },
    ),
    costs: list({ amount: integer(1, 1_000).example(40) }, { max: 9 }),
    status: states('open', 'solved').filter(),
  },
  derived: { costTotal: { sum: 'costs.amount' } },
  events: {
    opened: { says: 'A ticket was opened.', creates: ['subject', 'priority'] },
    changed: { says: 'A ticket was changed.', changes: ['subject', 'budget'] },
    triaged: {
      says: 'Who should look at a ticket, and how soon.',
      changes: ['priority', 'assignee'],
      sets: { triagedAt: 'now' },
    },
    noteAdded: { says: 'A note was added to a ticket.', adds: 'notes' },
    noteChanged: { updates: 'notes' },
    noteMoved: { moves: 'notes' },
    noteRemoved: { removes: 'notes' },
    costAdded: { says: 'A cost was added to a ticket.', adds: 'costs' },
    costRemoved: { removes: 'costs' },
    solved: { says: 'A ticket was solved.', sets: { status: 'solved' }, subscribe: true },
    reopened: { sets: { status: 'open' } },
    withdrawn: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    change: { emits: 'changed' },
    triage: { emits: 'triaged' },
    addNote: { emits: 'noteAdded' },
    changeNote: { emits: 'noteChanged' },
    moveNote: { emits: 'noteMoved' },
    removeNote: { emits: 'noteRemoved' },
    addCost: { emits: 'costAdded' },
    removeCost: { emits: 'costRemoved' },
    solve: { emits: 'solved' },
    reopen: { emits: 'reopened' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: {
    read: { customer: 'own', agent: true, lead: true },
    write: { customer: 'own', agent: true, lead: true },
  },
  fieldRights: {
    readTriage: { reads: ['priority', 'assignee', 'triagedAt'], customer: 'solved', agent: true, lead: true },
    readBudget: { reads: ['budget', 'costs', 'costTotal'], lead: true },
    readInternal: { items: { notes: { internal: true } }, agent: true, lead: true },
  },
});

export const support = assemble(base, [ticket]);
