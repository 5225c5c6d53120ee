import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, integer, line, ref } from '#kernel/declare/fields.ts';

/**
 * A domain of one release, and of the next, with more fields of users and tickets, with notes, and with
 * visits counted in hours.
 */
const first = domain({
  name: 'desk',
  roles: ['customer'],
  user: { read: { anyone: true } },
});
const rights = { read: { anyone: true }, write: { customer: 'own' } } as const;

export const before = assemble(first, [
  first.aggregate('ticket', {
    owner: 'requester',
    fields: { requester: ref(first.user), subject: line(120) },
    events: { opened: { creates: ['subject'] }, changed: { changes: ['subject'] } },
    commands: { open: { emits: 'opened' }, change: { emits: 'changed' } },
    rights,
  }),
  first.aggregate('visit', {
    owner: 'host',
    fields: { host: ref(first.user), visitor: line(20).personal(), minutes: integer(1, 6_000) },
    events: { booked: { creates: ['visitor', 'minutes'] }, prolonged: { changes: ['minutes'] } },
    commands: { book: { emits: 'booked' }, prolong: { emits: 'prolonged' } },
    rights,
  }),
]);

/** In version 1 the personal field, under another name, is missing after an erasure. */
const inHours = ({ minutes, visitor, ...data }: Readonly<Record<string, unknown>>) => ({
  ...data,
  ...(minutes !== undefined && { hours: Math.ceil(Number(minutes) / 60) }),
  ...(visitor !== undefined && { guest: visitor }),
});

const next = domain({
  name: 'desk',
  roles: ['customer'],
  user: {
    read: { anyone: true },
    fields: {
      department: line(80).optional(),
      floor: integer(0, 99).default(3),
      phone: line(20).optional().personal(),
    },
  },
});

export const after = assemble(next, [
  next.aggregate('ticket', {
    owner: 'requester',
    fields: {
      requester: ref(next.user),
      subject: line(120),
      urgency: choice('low', 'high').default('low'),
      place: line(20).optional(),
    },
    events: {
      opened: { creates: ['subject', 'urgency', 'place'] },
      changed: { changes: ['subject', 'urgency', 'place'] },
    },
    commands: { open: { emits: 'opened' }, change: { emits: 'changed' } },
    rights,
  }),
  next.aggregate('visit', {
    owner: 'host',
    fields: { host: ref(next.user), guest: line(20).personal(), hours: integer(1, 100) },
    events: {
      booked: { creates: ['guest', 'hours'], upcasts: [inHours] },
      prolonged: { changes: ['hours'], upcasts: [inHours] },
    },
    commands: { book: { emits: 'booked' }, prolong: { emits: 'prolonged' } },
    rights,
  }),
  next.aggregate('note', {
    owner: 'writer',
    fields: { writer: ref(next.user), text: line(20) },
    events: { written: { creates: ['text'] } },
    commands: { jot: { emits: 'written' } },
    rights: { read: { customer: true }, write: { customer: 'own' } },
  }),
]);
