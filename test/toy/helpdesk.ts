import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, prose, ref, set, states, word } from '#kernel/declare/fields.ts';

/**
 * A domain of one aggregate with five fields, an action, a right that depends on the state, and a personal
 * field.
 */
const base = domain({ name: 'helpdesk', roles: ['customer', 'agent'] });
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
    status: states('open', 'solved').filter(),
  },
  events: {
    opened: { says: 'A ticket was opened.', creates: content },
    changed: { says: 'What a ticket says was changed.', changes: content },
    solved: { says: 'A ticket was solved.', sets: { status: 'solved' }, subscribe: true },
    withdrawn: { says: 'A ticket was withdrawn.', ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    change: { emits: 'changed', when: 'open' },
    solve: { emits: 'solved' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: {
    read: { anyone: 'solved', customer: ['solved', 'own'], agent: true },
    write: { customer: 'own' },
    solve: { scope: 'solve', agent: true },
  },
  reactions: { requester: { deleted: { run: 'withdraw', when: 'open' } } },
});

export const helpdesk = assemble(base, [ticket]);
