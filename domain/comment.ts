import { prose, ref } from '#kernel/declare/fields.ts';
import { article } from './article.ts';
import { aggregate, user } from './base.ts';

export const comment = aggregate('comment', {
  says: 'A comment on a published article.',
  owner: 'author',
  parent: 'article',
  order: 'oldest',
  fields: {
    article: ref(article).says('The article to which it belongs.'),
    author: ref(user).says('The author.'),
    text: prose(5_000).personal({ erased: '[deleted]' }).example('Splendid.'),
  },
  events: {
    added: { says: 'A comment was added to a published article.', creates: ['text'], subscribe: true },
    edited: {
      says: 'A comment’s text was changed.',
      changes: ['text'],
      example: { text: 'Splendid indeed.' },
    },
    deleted: { says: 'A comment was deleted.', ends: true },
  },
  commands: {
    add: { says: 'Comment on a published article', emits: 'added', when: { article: 'published' } },
    edit: { says: 'Change a comment', emits: 'edited' },
    delete: { says: 'Delete a comment', emits: 'deleted' },
  },
  rights: {
    read: { as: 'article' },
    add: { signedIn: 'own' },
    edit: { signedIn: 'own' },
    delete: { reader: 'own', author: ['own', { article: 'own' }] },
  },
  reactions: { article: { deleted: { run: 'delete' } } },
});
