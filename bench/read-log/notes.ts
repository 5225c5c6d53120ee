import { assemble } from '../../kernel/assembly/assemble.ts';
import { domain } from '../../kernel/declare/domain.ts';
import { choice, integer, line, prose, ref } from '../../kernel/declare/fields.ts';

/** Notes with eight fields, as a record of a small practice has. */
export const notesWith = (more: { readonly reads?: 'logged' }) => {
  const base = domain({ name: 'notes', roles: ['clerk'] });
  const { aggregate, user } = base;
  const note = aggregate('note', {
    owner: 'author',
    fields: {
      author: ref(user),
      title: line(100),
      room: line(20),
      urgency: choice('low', 'high').filter(),
      pulse: integer(1, 300),
      days: integer(0, 999),
      place: line(60),
      text: prose(500),
    },
    events: { written: { creates: ['title', 'room', 'urgency', 'pulse', 'days', 'place', 'text'] } },
    commands: { make: { emits: 'written' } },
    rights: { read: { clerk: true }, write: { clerk: true } },
    ...more,
  });
  return assemble(base, [note]);
};
