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

const LINES = list({ text: line(50), state: states('new', 'old') }, { max: 3 });
const withItem = (commands: object, lines: object) =>
  [
    base.aggregate('invoice', {
      fields: { title: line(9), lineItems: LINES },
      events: {
        made: { creates: ['title'] },
        lineItemAdded: { adds: 'lineItems' },
        lineItemAged: { updates: 'lineItems', sets: { state: 'old' } },
      },
      commands: { make: { emits: 'made' }, addLineItem: { emits: 'lineItemAdded' }, ...lines },
      rights: { read: { anyone: true } },
    } as never),
    base.aggregate('item', {
      fields: { name: line(9), status: states('open', 'shut') },
      events: { made: { creates: ['name'] }, shut: { sets: { status: 'shut' } } },
      commands: { make: { emits: 'made' }, ...commands },
      rights: { read: { anyone: true } },
    } as never),
  ] as const;

test.each<readonly [commands: object, lines: object, message: string]>([
  [
    { addInvoiceLine: { emits: 'shut' } },
    {},
    'item: the command addInvoiceLine has the mutation addInvoiceLineItem in GraphQL, as the command addLineItem of invoice has: give it another name.',
  ],
  [
    { ageInvoiceLine: { emits: 'shut' } },
    { age: { emits: 'lineItemAged' } },
    'item: the command ageInvoiceLine has the mutation ageInvoiceLineItem in GraphQL, as the command age of invoice has: give it another name.',
  ],
])('%o, whose mutation a command of another aggregate has, is refused', (commands, lines, message) => {
  const assembled = (kinds: readonly unknown[]) => () => schemaOf(assemble(base, kinds as never));
  expect(assembled(withItem({}, lines))).not.toThrow();
  expect(assembled(withItem(commands, lines))).toThrow(message);
});

test('the command that another name helps is refused, whichever is declared first', () => {
  const kinds = withItem({ addInvoiceLine: { emits: 'shut' } }, {}).toReversed();
  expect(() => assemble(base, kinds as never)).toThrow(
    'item: the command addInvoiceLine has the mutation addInvoiceLineItem in GraphQL, as the command addLineItem of invoice has: give it another name.',
  );
});
