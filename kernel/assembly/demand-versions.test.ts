import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { line } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'office', roles: ['clerk'] });
const same = (data: object) => data;
const declare = (versions: object) =>
  assemble(base, [
    base.aggregate('note', {
      fields: { text: line(9) },
      events: { written: { creates: ['text'], ...versions } },
      commands: { jot: { emits: 'written' } },
      rights: { read: { anyone: true } },
    } as never),
  ] as never);

test.each([
  [
    { version: 2 },
    'note.written has the version 2, but no upcast from version 1: declare how to convert this data to the next version.',
  ],
  [{ version: 3, upcast: { 2: same } }, 'note.written has the version 3, but no upcast from version 1'],
  [{ version: 2, upcast: { 1: 'same' } }, 'note.written has the version 2, but no upcast from version 1'],
  [
    { upcast: { 1: same } },
    'note.written has an upcast from version 1, but its version is 1: raise the version, or remove the upcast.',
  ],
  [
    { version: 2, upcast: { 1: same, 2: same } },
    'note.written has an upcast from version 2, but its version is 2',
  ],
  [{ version: 0 }, 'note.written has the version 0: use a whole number of at least 1.'],
  [{ version: 1.5 }, 'note.written has the version 1.5'],
])('%j is refused before anything starts', (versions, message) =>
  expect(() => declare(versions)).toThrow(message),
);

test('versions with an upcast each are accepted', () => {
  expect(declare({ version: 3, upcast: { 1: same, 2: same } }).kinds.note?.events.written?.version).toBe(3);
});
