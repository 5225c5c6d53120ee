import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, list, ref, states } from '#kernel/declare/fields.ts';
import { sum } from '#kernel/declare/view.ts';

/**
 * A helpdesk whose customers may not see each other: they read themselves and the agents. Agents open tickets
 * for customers, and nobody writes a message in the name of another.
 */
const base = domain({
  name: 'private-helpdesk',
  roles: ['customer', 'agent'],
  user: {
    read: { customer: 'agent', agent: true },
    fields: { phone: line(40).optional().personal() },
    fieldRights: { readContact: { reads: ['email', 'phone'], signedIn: 'caller', agent: true } },
  },
});
const { aggregate, user, view } = base;

const ticket = aggregate('ticket', {
  owner: 'customer',
  label: 'subject',
  fields: {
    customer: ref(user),
    assignee: ref(user).optional().filter(),
    subject: line(120).search('A').example('The printer burns'),
    watchers: list({ person: ref(user) }, { max: 5, key: 'person' }),
    status: states('open', 'shared').filter(),
  },
  events: {
    opened: { says: 'A ticket was opened.', creates: ['subject'] },
    changed: { changes: ['subject', 'assignee'] },
    watcherAdded: { adds: 'watchers' },
    watcherRemoved: { removes: 'watchers' },
    shared: { says: 'A ticket was shared with everybody.', sets: { status: 'shared' }, subscribe: true },
    withdrawn: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    change: { emits: 'changed' },
    addWatcher: { emits: 'watcherAdded' },
    removeWatcher: { emits: 'watcherRemoved' },
    share: { emits: 'shared' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: {
    read: { anyone: 'shared', customer: ['shared', 'own'], agent: true },
    write: { customer: 'own', agent: true },
    forOthers: { agent: true },
  },
});

const message = aggregate('message', {
  parent: 'ticket',
  owner: 'author',
  fields: { ticket: ref(ticket), author: ref(user), text: line(500).example('It is the toner.') },
  events: { posted: { creates: ['text'] }, erased: { ends: true } },
  commands: { post: { emits: 'posted' }, erase: { emits: 'erased' } },
  rights: { read: { as: 'ticket' }, write: { signedIn: true } },
});

/** Everybody learns how many tickets there are, and nobody else whose they are. */
const demand = view('demand', {
  of: [ticket],
  key: { customer: ref(user) },
  values: { tickets: sum() },
  from: { ticket: { by: { customer: 'customer' }, on: { opened: { gives: { tickets: 1 } } } } },
  read: { signedIn: true },
});

export const privateHelpdesk = assemble(base, [ticket, message], [demand]);
