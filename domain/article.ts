import { instant, line, markdown, picture, ref, set, states, word } from '#kernel/declare/fields.ts';
import { aggregate, user } from './base.ts';

const content = ['title', 'body', 'tags', 'cover'] as const;

export const article = aggregate('article', {
  names: { graphql: 'Post' },
  says: 'Drafts and published articles.',
  owner: 'author',
  fields: {
    author: ref(user).says('The author.'),
    title: line(200).search('A').example('On engines'),
    body: markdown(100_000).search('D').says('Markdown.').example('An *analytical* one.'),
    tags: set(
      word(/^[a-z0-9-]{1,40}$/, 'Must be 1 to 40 characters: a–z, 0–9 or hyphens.'),
      10,
      'Must not repeat a tag.',
    )
      .default([])
      .filter('tag')
      .says('Lower-case letters, digits and hyphens.')
      .example(['engines']),
    cover: picture({ external: true })
      .optional()
      .says('The address of its picture. The picture of a draft needs a token.'),
    status: states({ draft: 'For its author and administrators alone.', published: 'For everybody.' })
      .filter()
      .says('Whether it is published.'),
    publishedAt: instant().optional().sort().says('When it was published; null for drafts.'),
  },
  events: {
    drafted: { says: 'An article was created as a draft.', creates: content },
    edited: {
      says: 'The content of an article was changed; only the changed fields are present.',
      changes: content,
      example: { title: 'On analytical engines' },
    },
    published: {
      says: 'A draft was published.',
      sets: { status: 'published', publishedAt: 'now' },
      subscribe: true,
    },
    unpublished: {
      says: 'A published article became a draft again.',
      sets: { status: 'draft', publishedAt: null },
    },
    deleted: { says: 'An article was deleted. Its comments are deleted afterwards.', ends: true },
  },
  commands: {
    draft: {
      says: 'Write an article, as a draft or published immediately',
      emits: 'drafted',
      next: ['publish'],
    },
    edit: { says: 'Change an article', emits: 'edited' },
    publish: { says: 'Publish an article', emits: 'published' },
    unpublish: { says: 'Turn an article back into a draft', emits: 'unpublished' },
    delete: { says: 'Delete an article with its comments', emits: 'deleted' },
  },
  rights: {
    read: { anyone: 'published', author: ['published', 'own'] },
    write: { author: 'own' },
    publish: { scope: 'publish', author: 'own' },
    unpublish: { scope: 'publish', author: 'own' },
  },
  reactions: { author: { deleted: { run: 'delete', when: 'draft' } } },
});
