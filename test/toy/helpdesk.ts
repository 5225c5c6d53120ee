import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, instant, line, list, prose, ref, set, states, word } from '#kernel/declare/fields.ts';

/**
 * A domain of one aggregate with five fields, an action, a right that depends on the state, and a personal
 * field. Its messages have authors and times that the server sets; internal notes are messages too.
 */
const base = domain({
  name: 'helpdesk',
  roles: ['customer', 'agent'],
  user: { read: { anyone: true } },
});
const { aggregate, user } = base;

const content = ['subject', 'details', 'tags'] as const;

const ticket = aggregate('ticket', {
  owner: 'requester',
  fields: {
    requester: ref(user),
    subject: line(120).search('A').example('The printer burns'),
    details: prose(2_000).personal({ erased: '[deleted]' }).example('Since this morning.'),
    tags: set(word(/^[a-z]{1,20}$/, 'Must be 1 to 20 of a–z.'), 5, 'Must not repeat a tag.')
      .default([])
      .filter('tag')
      .example(['fire']),
    messages: list(
      {
        text: line(500).example('Is it still burning?'),
        author: ref(user).filter(),
        sentAt: instant().sort(),
        internal: flag().filter(),
      },
      { max: 30 },
    ),
    status: states('open', 'solved').filter(),
  },
  events: {
    opened: { says: 'A ticket was opened.', creates: content },
    changed: { says: 'What a ticket says was changed.', changes: content },
    solved: { says: 'A ticket was solved.', sets: { status: 'solved' }, subscribe: true },
    replied: {
      says: 'Somebody replied to a ticket.',
      adds: 'messages',
      sets: { author: 'caller', sentAt: 'now', internal: false },
    },
    noteAdded: {
      says: 'An agent noted something about a ticket.',
      adds: 'messages',
      sets: { author: 'caller', sentAt: 'now', internal: true },
    },
    messageCorrected: { updates: 'messages' },
    withdrawn: { says: 'A ticket was withdrawn.', ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    change: { emits: 'changed', when: 'open' },
    reply: { emits: 'replied', when: 'open' },
    addNote: { emits: 'noteAdded' },
    correctMessage: { emits: 'messageCorrected', when: 'open', whenItem: { author: 'caller' } },
    solve: { emits: 'solved' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: {
    read: { anyone: 'solved', customer: ['solved', 'own'], agent: true },
    write: { customer: 'own' },
    reply: { customer: 'own', agent: true },
    addNote: { agent: true },
    correctMessage: { customer: 'own', agent: true },
    solve: { scope: 'solve', agent: true },
  },
  fieldRights: { readInternal: { items: { messages: { internal: true } }, agent: true } },
  reactions: { requester: { deleted: { run: 'withdraw', when: 'open' } } },
});

export const helpdesk = assemble(base, [ticket]);
