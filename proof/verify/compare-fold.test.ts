import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, list, word } from '#kernel/declare/fields.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { foldComparisons } from './compare-fold.ts';

test('the key of compared rows has a name that no declared column can have', () => {
  const base = domain({ name: 'tried', roles: ['clerk'] });
  const letter = word(/^[a-z]$/, 'Must be a letter.');
  const note = base.aggregate('note', {
    fields: { key: line(9), rows: list({ key: letter }, { max: 3, key: 'key' }) },
    events: { made: { creates: ['key'] }, rowAdded: { adds: 'rows' } },
    commands: { make: { emits: 'made' }, addRow: { emits: 'rowAdded' } },
    rights: { read: { anyone: true } },
  });
  const all = foldComparisons(tablesOf(assemble(base, [note])), 'scratch').filter(({ columns }) =>
    columns.includes('key'),
  );
  expect(all.map(({ table }) => table)).toEqual(['notes', 'note_rows']);
  for (const { recorded, found } of all)
    for (const select of [recorded, found]) expect(select).not.toMatch(/^select \S.* as key, .*\bkey\b/);
});
