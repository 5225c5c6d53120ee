import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, list, ref, states } from '#kernel/declare/fields.ts';
import { latest, sum } from '#kernel/declare/view.ts';

/**
 * A domain of references to what not every reader may read, and to what ends: tickets of customers, desks
 * that close, and bookmarks of everybody, shown to everybody who is signed in.
 */
const base = domain({
  name: 'bookmarks',
  roles: ['customer', 'agent'],
  user: { read: { anyone: true } },
});
const { aggregate, user, view } = base;

const desk = aggregate('desk', {
  label: 'name',
  fields: { name: line(50).example('First floor'), head: ref(user) },
  events: { opened: { creates: ['name', 'head'] }, closed: { ends: true } },
  commands: { open: { emits: 'opened' }, close: { emits: 'closed' } },
  rights: { read: { signedIn: true }, write: { agent: true } },
});

const ticket = aggregate('ticket', {
  owner: 'customer',
  label: 'subject',
  fields: {
    customer: ref(user),
    desk: ref(desk),
    subject: line(120).personal({ erased: '[deleted]' }).example('The printer burns'),
    status: states('open', 'shared').filter(),
  },
  events: {
    opened: { creates: ['desk', 'subject'] },
    moved: { changes: ['desk'] },
    reworded: { changes: ['subject'] },
    shared: { sets: { status: 'shared' } },
    hidden: { sets: { status: 'open' } },
    withdrawn: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    move: { emits: 'moved' },
    share: { emits: 'shared' },
    hide: { emits: 'hidden' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: {
    read: { customer: ['own', 'shared', { desk: { head: 'caller' } }], agent: true },
    write: { signedIn: 'own' },
  },
});

const bookmark = aggregate('bookmark', {
  owner: 'keeper',
  fields: {
    keeper: ref(user),
    ticket: ref(ticket),
    note: line(100).optional(),
    place: ref(desk, { gone: 'null' }).filter(),
    others: list(
      { ticket: ref(ticket), place: ref(desk, { gone: 'null' }).filter(), weight: integer(1, 9).optional() },
      { max: 9 },
    ),
  },
  events: {
    kept: { creates: ['ticket', 'note', 'place'], carries: ['ticket'] },
    changed: { changes: ['ticket', 'note', 'place'], carries: ['ticket'] },
    added: { adds: 'others' },
    weighed: { updates: 'others' },
    dropped: { ends: true, carries: ['ticket'] },
  },
  commands: {
    keep: { emits: 'kept' },
    change: { emits: 'changed' },
    add: { emits: 'added' },
    weigh: { emits: 'weighed' },
    drop: { emits: 'dropped' },
  },
  rights: { read: { signedIn: true }, write: { signedIn: 'own' } },
});

const interest = view('interest', {
  of: [bookmark],
  key: { ticket: ref(ticket) },
  values: { keeper: latest(ref(user)) },
  from: {
    bookmark: {
      by: { ticket: 'ticket' },
      on: { kept: { gives: { keeper: 'keeper' } } },
    },
  },
  read: { signedIn: true },
});

const shelf = view('shelf', {
  of: [bookmark],
  key: { place: ref(desk) },
  values: { kept: sum() },
  from: { bookmark: { by: { place: 'place' }, on: { kept: { gives: { kept: 1 } } } } },
  read: { signedIn: true },
});

export const bookmarks = assemble(base, [desk, ticket, bookmark], [interest, shelf]);
