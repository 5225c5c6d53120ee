import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { partsWrittenBy } from '#kernel/conditions/parts-of.ts';
import { domain } from '#kernel/declare/domain.ts';
import { flag, line, list } from '#kernel/declare/fields.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { partsWritten } from './parts-written.ts';

const base = domain({ name: 'desk', roles: ['agent'] });
const ticket = base.aggregate('ticket', {
  fields: {
    subject: line(50),
    notes: list({ text: line(50), internal: flag().default(true) }, { max: 3 }),
  },
  events: {
    opened: { creates: ['subject'] },
    noted: { adds: 'notes', fields: ['text'] },
    replied: { adds: 'notes', fields: ['text'], sets: { internal: false } },
    written: { adds: 'notes', fields: ['text', 'internal'] },
  },
  commands: {
    open: { emits: 'opened' },
    note: { emits: 'noted' },
    reply: { emits: 'replied' },
    tell: { emits: 'written' },
  },
  rights: { read: { anyone: true }, write: { signedIn: true } },
  fieldRights: { readInternal: { items: { notes: { internal: true } }, agent: true } },
});
const kind = assemble(base, [ticket]).kinds.ticket as Kind;

test.each<readonly [command: string, form: object, isRefused: boolean, links: readonly string[]]>([
  ['note', {}, true, ['readInternal']],
  ['reply', {}, false, []],
  ['tell', { internal: true }, true, []],
  ['tell', { internal: false }, false, []],
])('%s of %j by a caller who may not read the part', (name, form, isRefused, parts) => {
  const command = kind.commands[name];
  if (command === undefined) throw new Error(`${name} is gone`);
  const write = () => partsWritten(kind, command).isGone({ text: 'x', ...form }, {}, () => false);
  if (isRefused) expect(write).toThrow('The caller may not do this.');
  else expect(write()).toBe(false);
  expect(partsWrittenBy(kind, command)).toEqual(parts);
});
