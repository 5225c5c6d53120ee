import { instant, line, markdown, picture, ref, set, states, word } from '#kernel/declare/fields.ts';
import { aggregate, user } from './base.ts';

const content = ['title', 'body', 'tags', 'cover'] as const;

export const article = aggregate('article', {
  names: { graphql: 'Post' },
  owner: 'author',
  fields: {
    author: ref(user),
    title: line(200).search('A').example('On engines'),
    body: markdown(100_000).search('D').example('An *analytical* one.'),
    tags: set(word(/^[a-z0-9-]{1,40}$/, 'Must be 1 to 40 of a–z, 0–9 and the hyphen.'), 10, 'Must not repeat a tag.')
      .default([])
      .filter('tag')
      .example(['engines']),
    cover: picture().optional(),
    status: states('draft', 'published').filter(),
    publishedAt: instant().optional().sort(),
  },
  events: {
    drafted: { says: 'An article was written, as a draft.', creates: content },
    edited: {
      says: 'An article’s content was changed; only the changed fields are there.',
      changes: content,
      example: { title: 'On analytical engines' },
    },
    published: { says: 'A draft was published.', sets: { status: 'published', publishedAt: 'now' }, subscribe: true },
    unpublished: { says: 'A published article became a draft again.', sets: { status: 'draft', publishedAt: null } },
    deleted: { says: 'An article was deleted; its comments are deleted after it.', ends: true },
  },
  commands: {
    draft: { emits: 'drafted', next: ['publish'] },
    edit: { emits: 'edited' },
    publish: { emits: 'published' },
    unpublish: { emits: 'unpublished' },
    delete: { emits: 'deleted' },
  },
  rights: {
    read: { anyone: 'published', author: ['published', 'own'] },
    write: { author: 'own' },
    publish: { scope: 'publish', author: 'own' },
    unpublish: { scope: 'publish', author: 'own' },
  },
  reactions: { author: { deleted: { run: 'delete', when: 'draft' } } },
});
