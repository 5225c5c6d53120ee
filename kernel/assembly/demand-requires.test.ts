import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { line } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const requiring = (field: 'note' | 'other') => () => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const page = base.aggregate('page', {
    fields: { title: line(9), note: line(9).optional(), other: line(9).optional() },
    events: { made: { creates: ['title', 'note'] } },
    commands: { make: { emits: 'made', requires: [field] } },
    rights: { read: { anyone: true }, write: { clerk: true } },
  });
  return assemble(base, [page]);
};

test('a command can require a field of its form only', () => {
  expect(requiring('note')).not.toThrow();
  expect(requiring('other')).toThrow(
    'page: the command make requires other, which its form does not have: add the field to its event, or remove it from `requires`.',
  );
});
