import { prose, ref } from '#kernel/declare/fields.ts';
import { article } from './article.ts';
import { aggregate, user } from './base.ts';

export const comment = aggregate('comment', {
  owner: 'author',
  parent: 'article',
  order: 'oldest',
  fields: {
    article: ref(article),
    author: ref(user),
    text: prose(5_000).personal({ erased: '[deleted]' }),
  },
  events: {
    added: { creates: ['text'], subscribe: true },
    edited: { changes: ['text'] },
    deleted: { ends: true },
  },
  commands: {
    add: { emits: 'added', when: { article: 'published' } },
    edit: { emits: 'edited' },
    delete: { emits: 'deleted' },
  },
  rights: {
    read: { as: 'article' },
    add: { signedIn: 'own' },
    edit: { signedIn: 'own' },
    delete: { reader: 'own', author: ['own', { article: 'own' }] },
  },
  reactions: { article: { deleted: { run: 'delete' } } },
});
