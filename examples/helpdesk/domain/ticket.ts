import { choice, date, flag, instant, line, list, prose, ref, states } from 'annals';
import { aggregate, user } from './base.ts';
import { team } from './team.ts';

const message = {
  text: prose(4_000).personal({ erased: '[deleted]' }).example('Is it still burning?'),
  author: ref(user).filter(),
  sentAt: instant(),
  internal: flag().says('A note, which customers do not see.'),
};
const sent = { author: 'caller', sentAt: 'now' } as const;
const agents = { agent: true, lead: true } as const;

export const ticket = aggregate('ticket', {
  says: 'A question of a customer, and everything that was said about it.',
  owner: 'customer',
  label: 'subject',
  fields: {
    customer: ref(user).filter(),
    subject: line(120).personal({ erased: '[deleted]' }).search('A').example('The printer burns'),
    priority: choice('low', 'normal', 'urgent').default('normal').filter(),
    messages: list(message, { max: 400 }),
    team: ref(team, { gone: 'null' }).filter(),
    assignee: ref(user, { gone: 'null' }).filter(),
    followUpOn: date().optional().says('The day on which somebody should look at it again.'),
    duplicateOf: ref('ticket').optional(),
    status: states({
      open: 'We are to answer.',
      waiting: 'The customer is to answer.',
      solved: 'Nothing is left to do, unless the customer replies.',
    }).filter(),
    breached: flag().default(false).filter().says('We took longer than we promise for its priority.'),
  },
  events: {
    opened: { says: 'A ticket was opened.', creates: ['subject', 'priority', 'team'] },
    triaged: { changes: ['priority', 'team', 'assignee', 'followUpOn'] },
    replied: {
      adds: 'messages',
      sets: { ...sent, internal: false },
      also: { status: 'open' },
      subscribe: true,
    },
    answered: {
      adds: 'messages',
      sets: { ...sent, internal: false },
      also: { status: 'waiting' },
      subscribe: true,
    },
    noted: { adds: 'messages', sets: { ...sent, internal: true } },
    handedOver: { says: 'A message went to the other ticket.', removes: 'messages' },
    absorbed: {
      says: 'A message of a duplicate was added.',
      adds: 'messages',
      fields: ['text', 'author', 'sentAt', 'internal'],
    },
    corrected: { updates: 'messages' },
    solved: { sets: { status: 'solved' }, subscribe: true },
    merged: { changes: ['duplicateOf'], sets: { status: 'solved' } },
    reminded: { sets: { followUpOn: null }, subscribe: true },
    breached: { sets: { breached: true }, subscribe: true },
  },
  facts: {
    merged: { duplicateOf: { not: null } },
    ofSameCustomer: {
      when: [{ duplicateOf: null }, { duplicateOf: { customer: { field: 'customer' } } }],
      says: 'A duplicate is a ticket of the same customer.',
    },
    ofAnAgent: {
      when: [{ assignee: null }, { assignee: 'agent' }, { assignee: 'lead' }],
      says: 'Only agents and leads work on tickets.',
    },
  },
  invariants: { ofSameCustomer: 'ofSameCustomer', ofAnAgent: 'ofAnAgent' },
  commands: {
    open: { emits: 'opened' },
    triage: { emits: 'triaged', when: { solved: false } },
    reply: { emits: 'replied', when: { merged: false } },
    answer: { emits: 'answered', when: { merged: false } },
    addNote: { emits: 'noted' },
    correctMessage: { emits: 'corrected', whenItem: { author: 'caller' } },
    solve: { emits: 'solved', when: { solved: false } },
    merge: {
      says: 'Merge a ticket with its messages into another',
      emits: ['merged', 'handedOver'],
      requires: ['duplicateOf'],
      also: { duplicateOf: ['absorbed'] },
      refuses: {
        itself: 'A ticket is not a duplicate of itself.',
        alreadyMerged: 'The other ticket is a duplicate itself.',
      },
      decide: ({ state, reads, refuse, on }) => {
        if (reads.duplicateOf?.id === state.id) return refuse('itself');
        if (reads.duplicateOf?.duplicateOf !== null) return refuse('alreadyMerged');
        const moved = state.messages.map(
          ({ id, ...message }) => [['handedOver', { id }], on('duplicateOf', 'absorbed', message)] as const,
        );
        return ['merged', ...moved.flat()];
      },
    },
    remind: { emits: 'reminded', internal: true },
    breach: { emits: 'breached', internal: true },
  },
  rights: {
    read: { customer: 'own', ...agents },
    write: agents,
    open: { signedIn: true },
    forOthers: agents,
    reply: { customer: 'own', admin: false },
    correctMessage: { customer: 'own', ...agents },
    solve: { customer: 'own', ...agents },
  },
  fieldRights: { readInternal: { items: { messages: { internal: true } }, ...agents } },
  reactions: { customer: { deleted: { run: 'solve', when: { solved: false } } } },
  timers: {
    breach: {
      after: 'opened',
      wait: { priority: { low: '1 week', normal: '2 days', urgent: '4 hours' } },
      run: 'breach',
      when: { solved: false },
      pause: 'waiting',
    },
    remind: { at: 'followUpOn', run: 'remind', when: { solved: false } },
  },
});
