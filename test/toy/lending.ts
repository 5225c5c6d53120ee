import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref, states } from '#kernel/declare/fields.ts';

/** A domain of things with unique holders or limited numbers. */
const base = domain({
  name: 'lending',
  roles: ['member'],
  user: { read: { anyone: true } },
});
const { aggregate, user } = base;
const anyone = { read: { signedIn: true }, write: { signedIn: true } } as const;

const book = aggregate('book', {
  fields: { code: line(20).unique(), shelf: line(20).optional().unique() },
  events: {
    bought: { creates: ['code', 'shelf'] },
    changed: { changes: ['code', 'shelf'] },
    reopened: {},
    sold: { ends: true },
  },
  commands: {
    buy: { emits: 'bought' },
    change: { emits: 'changed' },
    reopen: { emits: 'reopened' },
    sell: { emits: 'sold' },
  },
  rights: anyone,
});

const loan = aggregate('loan', {
  owner: 'borrower',
  fields: {
    borrower: ref(user),
    book: ref(book),
    status: states('open', 'returned'),
  },
  events: {
    lent: { creates: ['book'] },
    moved: { changes: ['book'] },
    returned: { sets: { status: 'returned' } },
    reopened: { sets: { status: 'open' } },
    erased: { ends: true },
  },
  commands: {
    lend: { emits: 'lent' },
    move: { emits: 'moved' },
    return: { emits: 'returned' },
    reopen: { emits: 'reopened' },
    erase: { emits: 'erased' },
  },
  limits: {
    open: { max: 3, per: 'borrower', when: 'open', says: 'You have three books already: return one first.' },
    out: { max: 1, per: 'book', when: 'open', says: 'Somebody else has the book.' },
  },
  rights: anyone,
  reactions: { book: { reopened: { run: 'reopen' } }, borrower: { deleted: { run: 'erase' } } },
});

const card = aggregate('card', {
  owner: 'holder',
  fields: { holder: ref(user), number: line(40).personal().unique() },
  events: { issued: { creates: ['number'] }, renumbered: { changes: ['number'] } },
  commands: { issue: { emits: 'issued' }, renumber: { emits: 'renumbered' } },
  rights: { read: { member: 'own' }, write: { member: 'own' } },
});

export const lending = assemble(base, [book, loan, card]);
