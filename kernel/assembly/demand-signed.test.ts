import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { file, line, ref, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

type Commands = Readonly<Record<string, object>>;

/** Assembles a domain with these commands and the rest of an aggregate. */
const withCommands = (commands: Commands, more: object = {}) => {
  const base = domain({ name: 'signing', roles: ['clerk'] });
  const paper = base.aggregate('paper', {
    owner: 'clerk',
    fields: {
      clerk: ref(base.user),
      title: line(50),
      signature: line(50).optional(),
      scan: file({ types: ['application/pdf'], bytesMax: 1_000 }).optional(),
      status: states('open', 'closed'),
    },
    events: {
      opened: { creates: ['title'] },
      edited: { changes: ['title', 'scan'] },
      marked: { changes: ['signature'], sets: { status: 'closed' } },
      closed: { sets: { status: 'closed' } },
      ended: { ends: true },
    },
    commands: {
      open: { emits: 'opened' },
      edit: { emits: 'edited' },
      mark: { emits: 'marked' },
      close: { emits: 'closed' },
      end: { emits: 'ended' },
      ...commands,
    },
    rights: { read: { signedIn: true }, write: { signedIn: true } },
    reactions: { clerk: { deleted: { run: 'end' } } },
    ...more,
  } as never);
  return assemble(base, [paper as never]);
};

const signed = { meaning: 'approval' };

test('a signed command is part of the domain', () => {
  const { kinds } = withCommands({ close: { emits: 'closed', signed } });
  expect(kinds.paper?.commands.close?.signed).toBe('approval');
});

test.each<[string, Commands, string]>([
  ['no meaning', { close: { emits: 'closed', signed: {} } }, 'has `signed` without a meaning'],
  ['only true', { close: { emits: 'closed', signed: true } }, 'has `signed` without a meaning'],
  ['a blank meaning', { close: { emits: 'closed', signed: { meaning: ' ' } } }, 'without a meaning'],
  ['two lines', { close: { emits: 'closed', signed: { meaning: 'a\nb' } } }, 'without a meaning'],
  [
    'an internal command',
    { close: { emits: 'closed', signed, internal: true } },
    'has `signed` and is internal',
  ],
  ['a field named signature', { mark: { emits: 'marked', signed } }, 'a field named signature'],
  ['a file in the form', { edit: { emits: 'edited', signed } }, 'its form has the file scan'],
  [
    'a command that another form can run',
    { open: { emits: 'opened', next: ['close'] }, close: { emits: 'closed', signed } },
    'but open can run it too',
  ],
  ['a command that a reaction runs', { end: { emits: 'ended', signed } }, 'but a reaction runs it'],
])('%s is refused in one sentence', (_what, commands, sentence) => {
  expect(() => withCommands(commands)).toThrow(sentence);
});
