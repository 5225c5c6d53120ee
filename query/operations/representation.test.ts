import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import { representTimer } from './representation.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const libraries = assemble(base, [
  base.aggregate('wingOfLibrary', {
    names: { plural: 'libraryWings' },
    fields: { title: line(9) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  }),
]);
const linksOf = (stream: string) =>
  representTimer(libraries, { stream, name: 'remind', causeId: 'one', dueAt: null, leftSeconds: 1 } as never)
    ._links;

test('links lead to the aggregate, unless it is not readable over REST', () => {
  expect(linksOf('wingOfLibrary-3')).toEqual({
    item: { href: '/library-wings/3' },
    history: { href: '/library-wings/3/history' },
  });
  expect(linksOf('webhook-3')).toEqual({
    item: { href: '/webhooks/3' },
    history: { href: '/webhooks/3/history' },
  });
  expect(linksOf('email-3')).toEqual({});
});
