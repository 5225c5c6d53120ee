import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, instant, line, list, ref, states } from '#kernel/declare/fields.ts';
import { latest, sum } from '#kernel/declare/view.ts';

/**
 * Cards move between boards, and their remarks with them: rights lead through the parent, and through its
 * parent. A board may be private, has members, and takes three urgent cards.
 */
const base = domain({
  name: 'boards',
  roles: ['member', 'guide'],
  user: { read: { signedIn: true } },
});
const { aggregate, user, view } = base;

const board = aggregate('board', {
  owner: 'keeper',
  label: 'title',
  fields: {
    keeper: ref(user),
    title: line(60).example('Repairs'),
    members: list({ person: ref(user) }, { max: 20, key: 'person' }),
    state: states('open', 'archived').filter(),
  },
  events: {
    opened: { creates: ['title'] },
    memberAdded: { adds: 'members' },
    memberRemoved: { removes: 'members' },
    archived: { sets: { state: 'archived' } },
    removed: { ends: true },
  },
  facts: { ours: [{ keeper: 'caller' }, { members: { some: { person: 'caller' } } }] },
  commands: {
    open: { emits: 'opened' },
    addMember: { emits: 'memberAdded' },
    removeMember: { emits: 'memberRemoved' },
    archive: { emits: 'archived', when: 'open' },
    remove: { emits: 'removed' },
  },
  rights: {
    read: { member: 'ours', guide: true },
    write: { member: 'own', guide: true },
    open: { member: true },
  },
});

export const card = aggregate('card', {
  parent: 'board',
  owner: 'author',
  label: 'title',
  fields: {
    board: ref(board),
    author: ref(user),
    title: line(80).personal({ erased: '[deleted]' }).example('The door sticks'),
    urgent: flag().default(false).filter(),
    movedAt: instant().optional(),
    steps: list({ text: line(40) }, { max: 5 }),
  },
  events: {
    written: { creates: ['title', 'urgent'], subscribe: true },
    edited: { changes: ['title', 'urgent'] },
    moved: {
      says: 'A card was moved to another board.',
      moves: 'board',
      sets: { movedAt: 'now' },
      subscribe: true,
    },
    stepAdded: { adds: 'steps' },
    removed: { ends: true },
  },
  limits: {
    urgent: {
      max: 3,
      per: 'board',
      when: { urgent: true },
      says: 'A board has at most three urgent cards.',
    },
  },
  invariants: { onOpenBoard: { board: 'open' } },
  commands: {
    add: { emits: 'written' },
    edit: { emits: 'edited' },
    move: { says: 'Move a card to another board', emits: 'moved' },
    addStep: { emits: 'stepAdded' },
    remove: { emits: 'removed' },
  },
  rights: {
    read: { as: 'board' },
    write: { member: { board: 'ours' }, guide: true },
    move: { member: { board: { keeper: 'caller' } }, guide: true },
    remove: { member: 'own', guide: true },
  },
  reactions: { board: { removed: { run: 'remove' } } },
});

export const remark = aggregate('remark', {
  parent: 'card',
  owner: 'author',
  order: 'oldest',
  fields: { card: ref(card), author: ref(user), text: line(200) },
  events: { made: { creates: ['text'] }, moved: { moves: 'card' }, withdrawn: { ends: true } },
  commands: { make: { emits: 'made' }, move: { emits: 'moved' }, withdraw: { emits: 'withdrawn' } },
  rights: { read: { as: 'card' }, write: { signedIn: 'own' }, make: { signedIn: true } },
  reactions: { card: { removed: { run: 'withdraw' } } },
});

const work = view('work', {
  of: [card],
  key: { board: ref(board) },
  values: { cards: sum().sort(), lastMovedAt: latest(instant()) },
  from: {
    card: {
      by: { board: 'board' },
      on: { written: { gives: { cards: 1 } }, moved: { changes: { lastMovedAt: 'now' } } },
    },
  },
  read: { signedIn: true },
});

export const boards = assemble(base, [board, card, remark], [work]);
