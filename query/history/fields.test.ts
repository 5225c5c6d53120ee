import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { shownColumnsOf } from './fields.ts';

const libraryWith = (label: { readonly label?: 'name' }) => {
  const base = domain({ name: 'library', roles: ['reader'] });
  const shelf = base.aggregate('shelf', {
    ...label,
    names: { plural: 'shelves' },
    fields: { name: line(60) },
    events: { built: { creates: ['name'] } },
    commands: { build: { emits: 'built' } },
    rights: { read: { anyone: true } },
  });
  const book = base.aggregate('book', {
    parent: 'shelf',
    fields: { shelf: ref(shelf), next: ref(shelf), title: line(60) },
    events: { added: { creates: ['next', 'title'] } },
    commands: { add: { emits: 'added' } },
    rights: { read: { anyone: true } },
  });
  return assemble(base, [shelf, book]);
};
const namesIn = (label: Parameters<typeof libraryWith>[0]) =>
  [...(shownColumnsOf(libraryWith(label)).get('book')?.values() ?? [])].map(({ field }) => field);

test('a history names references as the item does: a label shows all of them as objects but the parent', () => {
  expect(namesIn({})).toEqual(['shelfId', 'nextId', 'title']);
  expect(namesIn({ label: 'name' })).toEqual(['shelfId', 'next.id', 'title']);
});
