import { expect, test } from 'vitest';
import * as z from 'zod';
import { formShape } from '../decide/forms.ts';
import { domain } from '../declare/domain.ts';
import { line, picture } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';
import { assemble } from './assemble.ts';

const requiring =
  (field: 'title' | 'note' | 'other', command: 'make' | 'change' | 'rate' = 'make') =>
  () => {
    const base = domain({ name: 'tried', roles: ['clerk'] });
    const page = base.aggregate('page', {
      fields: { title: line(9), note: line(9).optional(), other: line(9).optional() },
      events: {
        made: { creates: ['title', 'note'] },
        changed: { changes: ['title', 'note'] },
        rated: { changes: ['note'], sets: { other: null } },
      },
      commands: {
        make: { emits: 'made', requires: command === 'make' ? [field] : [] },
        change: { emits: 'changed', requires: command === 'change' ? [field] : [] },
        rate: { emits: 'rated', requires: command === 'rate' ? [field] : [] },
      },
      rights: { read: { anyone: true }, write: { clerk: true } },
    });
    return assemble(base, [page]).kinds.page as Kind;
  };

test.each([
  ['other', 'make', 'other, which its form does not have: add the field to its event, or remove it from'],
  ['title', 'make', 'title, which is not optional(), so that every form has it: remove it from `requires`.'],
  ['note', 'change', 'note, but an edit has only the fields that it changes: remove `requires`, or let its'],
] as const)('%s that the command %s requires without effect is refused', (field, command, sentence) => {
  expect(requiring(field, command)).toThrow(`page: the command ${command} requires ${sentence}`);
});

test.each(['make', 'rate'] as const)(
  'an optional field is left out of %s, unless that requires it',
  (name) => {
    const accepts = (kind: Kind, form: object): boolean => {
      const command = kind.commands[name];
      return command !== undefined && z.strictObject(formShape(kind, command)).safeParse(form).success;
    };
    const others = name === 'make' ? { title: 'A' } : {};
    const free = requiring('note', name === 'make' ? 'rate' : 'make')();
    const bound = requiring('note', name)();
    for (const form of [others, { ...others, note: null }])
      expect([accepts(free, form), accepts(bound, form)]).toEqual([true, false]);
    expect([accepts(free, { ...others, note: 'B' }), accepts(bound, { ...others, note: 'B' })]).toEqual([
      true,
      true,
    ]);
  },
);

test.each([
  ['picture', picture, 'page: the command make requires file, but no new page can have a file yet'],
  ['picture or link', () => picture({ external: true }), undefined],
] as const)('a creation cannot require an %s that has no address elsewhere', (_, type, sentence) => {
  const made = () => {
    const base = domain({ name: 'tried', roles: ['clerk'] });
    const page = base.aggregate('page', {
      fields: { title: line(9), file: type().optional() },
      events: { made: { creates: ['title', 'file'] } },
      commands: { make: { emits: 'made', requires: ['file'] } },
      rights: { read: { anyone: true }, write: { clerk: true } },
    });
    return assemble(base, [page]);
  };
  if (sentence === undefined) expect(made).not.toThrow();
  else expect(made).toThrow(sentence);
});
