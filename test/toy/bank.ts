import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, ref, states } from '#kernel/declare/fields.ts';

/** A transfer changes two purses at once, and keeps neither below zero nor above what it may hold. */
const base = domain({ name: 'bank', roles: ['member'] });
const { aggregate, user } = base;
const purse = aggregate('purse', {
  owner: 'holder',
  fields: {
    holder: ref(user),
    balance: integer(-1_000, 1_000),
    guarantor: ref('purse').optional(),
    card: integer(0, 99).optional().unique(),
    status: states('open', 'closed'),
  },
  events: {
    opened: { creates: ['balance'] },
    changed: { computes: ['balance'] },
    guaranteed: { changes: ['guarantor'] },
    carded: { computes: ['card'] },
    closed: { sets: { status: 'closed' } },
  },
  facts: {
    covered: {
      when: [{ balance: { min: 0 } }, { guarantor: { open: true } }],
      says: 'The purse is not covered.',
    },
    small: { balance: { max: 500 } },
  },
  invariants: { covered: 'covered', small: 'small' },
  commands: {
    open: { emits: 'opened' },
    guarantee: { emits: 'guaranteed' },
    close: { emits: 'closed' },
  },
  rights: {
    read: { member: 'own', admin: true },
    write: { member: 'own' },
    forOthers: { admin: true },
  },
});
const transfer = aggregate('transfer', {
  fields: {
    from: ref(purse),
    to: ref(purse),
    amount: integer(1, 1_000),
    status: states('planned', 'done', 'undone'),
  },
  events: {
    planned: { creates: ['from', 'to', 'amount'] },
    done: { sets: { status: 'done' } },
    undone: { sets: { status: 'undone' } },
  },
  commands: {
    plan: { emits: 'planned', next: ['execute'] },
    execute: {
      emits: ['done'],
      when: 'planned',
      also: { from: ['changed'], to: ['changed'] },
      decide: ({ state: { amount }, reads: { from, to }, on }) => [
        'done',
        on('from', 'changed', { balance: (from?.balance ?? 0) - amount }),
        on('to', 'changed', { balance: (to?.balance ?? 0) + amount }),
      ],
    },
    issue: {
      emits: ['undone'],
      also: { to: ['carded'] },
      decide: ({ state, on }) => ['undone', on('to', 'carded', { card: state.amount })],
    },
  },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
});
export const bank = assemble(base, [purse, transfer]);
