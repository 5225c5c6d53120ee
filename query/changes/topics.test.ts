import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { createTopicsOf } from './topics.ts';

const topicsOf = createTopicsOf(publishing);

test.each([
  ['article.edited', 'article-5', { articleId: 5, authorId: 7 }, ['article:5']],
  ['comment.added', 'comment-6', { commentId: 6, articleId: 5, authorId: 7 }, ['comment:6', 'comments:5']],
  ['user.deleted', 'user-7', { userId: 7 }, ['user:7']],
  // Data that lacks its id.
  ['comment.added', 'comment-6', {}, ['comment:6']],
  ['session.signed_in', 'session-x', { sessionId: 'x', userId: 7 }, []],
  ['gadget.made', 'gadget-1', {}, []],
])('%s in %s has the topics of its aggregate and parent', (type, stream, data, about) => {
  expect(topicsOf({ type, stream: stream as StreamName, data })).toEqual(['all', `type:${type}`, ...about]);
});
