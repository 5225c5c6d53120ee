import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, flag, integer, line, picture, ref, states } from '#kernel/declare/fields.ts';

/**
 * Administrators who may not read everything, two fields with states, an edit that is possible in one state
 * only, a first event that is internal, a reference named owner beside the owner, a required picture, parts
 * that a writer may not read, targets that only some senders may name, and a maximum of aggregates that never end.
 */
const base = domain({ name: 'parcels', roles: ['sender', 'clerk'] });
const { aggregate, user } = base;

const parcel = aggregate('parcel', {
  owner: 'sender',
  fields: {
    sender: ref(user),
    label: line(40),
    photo: picture({ external: true }),
    weight: integer(1, 30).optional(),
    fragile: flag().default(false),
    size: choice('small', 'large'),
    replaces: ref('parcel').optional(),
    owner: ref(user).optional(),
    status: states('packed', 'sent').filter(),
    payment: states('open', 'paid').filter(),
  },
  limits: { all: { max: 100, says: 'The store is full.' } },
  events: {
    packed: { creates: ['label', 'photo', 'weight', 'size', 'replaces', 'owner'], hidden: true },
    changed: { changes: ['label', 'photo', 'size', 'weight'] },
    handled: { changes: ['owner'], sets: { fragile: true } },
    sent: { sets: { status: 'sent' } },
    paid: { sets: { payment: 'paid' } },
  },
  commands: {
    pack: { emits: 'packed' },
    change: { emits: 'changed', when: 'sent' },
    handle: { emits: 'handled' },
    send: { emits: 'sent' },
    pay: { emits: 'paid' },
  },
  rights: {
    read: { sender: 'own', clerk: true, admin: ['sent', 'own'] },
    write: { sender: 'own', clerk: true },
  },
  fieldRights: { readSize: { reads: ['size'], clerk: true, sender: 'sent', admin: { size: 'small' } } },
});

export const parcels = assemble(base, [parcel]);
