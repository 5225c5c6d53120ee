import { expect, test } from 'vitest';
import { StartRefused } from '../base/start-refused.ts';
import { domain } from '../declare/domain.ts';
import { type Fields, line, list, ref } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const other = domain({ name: 'other', roles: ['clerk'] });

const of = (kind: string, fields: Fields = {}, more: object = {}, { aggregate } = base) =>
  aggregate(
    kind as 'any',
    {
      fields: { title: line(9), ...fields },
      events: { made: { creates: ['title', ...Object.keys(fields).filter((name) => name !== 'rows')] } },
      commands: { make: { emits: 'made' } },
      rights: { read: { anyone: true } },
      ...more,
    } as never,
  );
type Declared = ReturnType<typeof of>;

const folder = of('folder');

test('references within the domain are accepted, by aggregate and by name', () => {
  const fields = {
    folder: ref(folder),
    copy: ref('note').optional(),
    maker: ref(base.user),
    rows: list({ source: ref('folder') }, { max: 3 }),
  };
  expect(() => assemble(base, [folder, of('note', fields, { parent: 'folder' })] as never)).not.toThrow();
});

test.each(
  Object.entries<readonly Declared[]>({
    'note: the field postId has the name of the id of folder in GraphQL: give it another name.': [
      of('folder', {}, { names: { graphql: 'Post' } }),
      of('note', { folder: ref('folder').optional(), postId: line(9).optional() }),
    ],
    'note: the reference copy leads to nope, which is not in the domain: add it to `assemble`, or remove the reference.':
      [of('note', { copy: ref('nope').optional() })],
    'note: the reference copy leads to toString, which is not in the domain: add it to `assemble`, or remove the reference.':
      [of('note', { copy: ref('toString').optional() })],
    'note: the reference folder leads to folder, which is not in the domain: add it to `assemble`, or remove the reference.':
      [of('note', { folder: ref(folder) }, { reactions: { folder: { made: { run: 'make' } } } })],
    'note: the reference rows.folder leads to folder, which is not in the domain: add it to `assemble`, or remove the reference.':
      [of('note', { rows: list({ folder: ref(folder) }, { max: 3 }) })],
    'note: the reference folder leads to a different folder than the one in the domain: refer to the one in the domain, or use its name.':
      [folder, of('note', { folder: ref(of('folder')) })],
    'note: the reference maker leads to a different user than the one in the domain: refer to the one in the domain, or use its name.':
      [of('note', { maker: ref(other.user) })],
    'note: it was declared with the `aggregate` of another `domain()`: declare it with the `aggregate` of tried.':
      [of('note', {}, {}, other as never)],
    'note: the parent folder is optional(), but aggregates are created under their parent: make it required, or remove `parent`.':
      [folder, of('note', { folder: ref(folder).optional() }, { parent: 'folder' })],
    'note: the parent title is not one of its references: use one of them.': [
      of('note', {}, { parent: 'title' }),
    ],
    'note: the parent next leads back to a note, through note, note, so none of them can be created first: remove `parent` from one of them.':
      [of('note', { next: ref('note') }, { parent: 'next' })],
    'note: the parent page leads back to a note, through note, page, note, so none of them can be created first: remove `parent` from one of them.':
      [
        of('note', { page: ref('page') }, { parent: 'page' }),
        of('page', { note: ref('note') }, { parent: 'note' }),
      ],
  }),
)('refused: %s', (says, aggregates) => {
  expect(() => assemble(base, aggregates as never)).toThrow(new StartRefused(says));
});
