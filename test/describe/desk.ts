import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, instant, integer, line, list, picture, ref, states } from '#kernel/declare/fields.ts';

/** Rights to parts, where everybody who may write one may read it. */
const base = domain({ name: 'desk', roles: ['customer', 'agent', 'lead'] });
const { aggregate, user } = base;

const enquiry = aggregate('enquiry', {
  names: { plural: 'enquiries' },
  owner: 'customer',
  fields: {
    customer: ref(user),
    subject: line(120).search('A'),
    priority: integer(1, 9).optional().filter(),
    assignee: ref(user).optional().filter(),
    triagedAt: instant().optional().sort(),
    notes: list(
      {
        text: line(200),
        internal: flag().default(false),
        scan: picture().optional(),
        state: states('open', 'done'),
        doneBy: ref(user).optional(),
      },
      { max: 20, ordered: true },
    ),
    costs: list({ amount: integer(1, 1_000) }, { max: 9 }),
    status: states('open', 'solved').filter(),
  },
  derived: { costTotal: { sum: 'costs.amount' } },
  events: {
    opened: { creates: ['subject'] },
    changed: { changes: ['subject', 'priority'] },
    triaged: { changes: ['assignee'], sets: { triagedAt: 'now' } },
    noteAdded: { adds: 'notes' },
    noteChanged: { updates: 'notes' },
    noteDone: { updates: 'notes', sets: { state: 'done', doneBy: 'caller' } },
    noteMoved: { moves: 'notes' },
    noteRemoved: { removes: 'notes' },
    costAdded: { adds: 'costs' },
    costRemoved: { removes: 'costs' },
    solved: { sets: { status: 'solved' } },
    withdrawn: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    change: { emits: 'changed' },
    triage: { emits: 'triaged' },
    addNote: { emits: 'noteAdded' },
    changeNote: { emits: 'noteChanged' },
    finishNote: { emits: 'noteDone', whenItem: { state: 'open' } },
    moveNote: { emits: 'noteMoved' },
    removeNote: { emits: 'noteRemoved' },
    addCost: { emits: 'costAdded' },
    removeCost: { emits: 'costRemoved' },
    solve: { emits: 'solved' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: {
    read: { anyone: 'solved', customer: 'own', agent: true, lead: true },
    write: { agent: true, lead: true },
    open: { customer: 'own' },
    solve: { customer: 'own', agent: true },
    withdraw: { customer: 'own' },
    addCost: { lead: true },
    removeCost: { lead: true },
  },
  fieldRights: {
    readTriage: { reads: ['priority', 'assignee', 'triagedAt'], customer: 'solved', agent: true, lead: true },
    readCosts: { reads: ['costs', 'costTotal'], lead: true },
    readInternal: {
      items: { notes: { internal: true } },
      customer: { solved: true, own: false },
      agent: true,
      lead: true,
    },
  },
});

export const desk = assemble(base, [enquiry]);
