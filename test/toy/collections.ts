import { article } from '#domain/article.ts';
import * as base from '#domain/base.ts';
import { aggregate, user } from '#domain/base.ts';
import { comment } from '#domain/comment.ts';
import { assemble } from '#kernel/assembly/assemble.ts';
import { choice, line, list, prose, ref } from '#kernel/declare/fields.ts';

/** Articles that a user has collected, in an order of their own. */
const collection = aggregate('collection', {
  says: 'Articles that somebody has put together.',
  owner: 'curator',
  fields: {
    curator: ref(user),
    title: line(100).search('A').example('On engines'),
    description: prose(1_000).optional(),
    visibility: choice('private', 'public').default('private').filter(),
    items: list(
      { article: ref(article), note: line(200).optional() },
      { max: 100, key: 'article', ordered: true },
    ),
  },
  derived: { itemCount: { count: 'items' } },
  events: {
    created: { creates: ['title', 'description', 'visibility'] },
    edited: { changes: ['title', 'description', 'visibility'] },
    itemAdded: { adds: 'items' },
    itemChanged: { updates: 'items' },
    itemMoved: { moves: 'items' },
    itemRemoved: { removes: 'items' },
    deleted: { ends: true },
  },
  commands: {
    create: { emits: 'created' },
    edit: { emits: 'edited' },
    addItem: { emits: 'itemAdded' },
    changeItem: { emits: 'itemChanged' },
    moveItem: { emits: 'itemMoved' },
    removeItem: { emits: 'itemRemoved' },
    delete: { emits: 'deleted' },
  },
  rights: { read: { anyone: 'public', signedIn: ['public', 'own'] }, write: { signedIn: 'own' } },
  reactions: { curator: { deleted: { run: 'delete' } }, 'items.article': { deleted: { run: 'removeItem' } } },
});

/** Publishing, with collections: the measure for the effort of a new aggregate. */
export const publishingWithCollections = assemble(base, [article, comment, collection]);
