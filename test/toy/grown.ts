import { domain } from '#kernel/declare/domain.ts';
import { choice, integer, line, ref } from '#kernel/declare/fields.ts';
import { assemble } from '#kernel/registry/registry.ts';

/** A domain of one release, and of the next, which knows more of its users and of its tickets, and has notes. */
const first = domain({ name: 'desk', roles: ['customer'] });
const rights = { read: { anyone: true }, write: { customer: 'own' } } as const;

export const before = assemble(first, [
  first.aggregate('ticket', {
    owner: 'requester',
    fields: { requester: ref(first.user), subject: line(120) },
    events: { opened: { creates: ['subject'] }, changed: { changes: ['subject'] } },
    commands: { open: { emits: 'opened' }, change: { emits: 'changed' } },
    rights,
  }),
]);

const next = domain({
  name: 'desk',
  roles: ['customer'],
  user: { fields: { department: line(80).optional(), floor: integer(0, 99).default(3), phone: line(20).optional().personal() } },
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
    events: { opened: { creates: ['subject', 'urgency', 'place'] }, changed: { changes: ['subject', 'urgency', 'place'] } },
    commands: { open: { emits: 'opened' }, change: { emits: 'changed' } },
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
