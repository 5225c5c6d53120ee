import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, line, list, states } from '#kernel/declare/fields.ts';
import { schemaOf } from './schema.ts';

const base = domain({ name: 'desk', roles: ['agent'] });
const schemaWith = (commands: object) => {
  const ticket = base.aggregate('ticket', {
    fields: {
      subject: line(50),
      urgency: choice('low', 'high').filter('level'),
      notes: list({ text: line(50), state: states('new', 'old') }, { max: 3 }),
      status: states('open', 'shut'),
    },
    events: {
      opened: { creates: ['subject', 'urgency'] },
      changed: { changes: ['subject'] },
      shut: { sets: { status: 'shut' } },
      noteChanged: { updates: 'notes' },
      noteAged: { updates: 'notes', sets: { state: 'old' } },
    },
    commands: { open: { emits: 'opened' }, change: { emits: 'changed' }, ...commands },
    rights: { read: { anyone: true }, write: { signedIn: true } },
  } as never);
  return schemaOf(assemble(base, [ticket] as never));
};

test('a filter of another name has the values of its field', () => {
  const filter = schemaWith({}).getType('TicketFilter');
  expect(
    String((filter as never as { getFields(): Record<string, { type: unknown }> }).getFields().level?.type),
  ).toBe('TicketUrgency');
});

test.each<readonly [command: string, commands: object]>([
  ['update', { update: { emits: 'shut' } }],
  ['updateNote', { alter: { emits: 'noteChanged' }, updateNote: { emits: 'noteAged' } }],
])('the command %s, whose mutation another command has, is refused', (name, commands) => {
  expect(() => schemaWith(commands)).toThrow(
    new RegExp(`^ticket: the command ${name} .*: give it another name.$`),
  );
});
