import { expect, test } from 'vitest';
import type { ArticleId, UserId, Version, WebhookId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { PlannedEndpoint } from './endpoints.ts';
import { EndpointBook, wants } from './matching.ts';

const endpoint = (more: Partial<PlannedEndpoint> = {}): PlannedEndpoint => ({
  webhookId: 1 as WebhookId,
  ownerId: 7 as UserId,
  version: 1 as Version,
  status: 'enabled',
  eventTypes: ['article.*'],
  filter: {},
  isOrdered: false,
  limits: { ratePerSecond: 50, concurrency: 10 },
  ...more,
});
const change = (type: string, data: object = {}) => ({ type, data }) as Change;
const articleId = 8 as ArticleId;
const authorId = 9 as UserId;

test.each([
  [['*'], 'comment.added', true],
  [['article.*'], 'article.published', true],
  [['article.*'], 'articles.published', false],
  [['article.published'], 'article.published', true],
  [['article.published'], 'article.unpublished', false],
  [['user.*', 'comment.added'], 'comment.added', true],
] as const)('%j is told of %s: %s', (eventTypes, type, isTold) => {
  expect(wants(endpoint({ eventTypes: [...eventTypes] }), change(type))).toBe(isTold);
});

test.each([
  [{ articleId }, { articleId }, true],
  [{ articleId }, { articleId: 10 }, false],
  [{ authorId }, { articleId, authorId }, true],
  [{ articleId, authorId }, { articleId, authorId: 10 }, false],
  [{ authorId }, { userId: 9 }, false],
])('the filter %j lets %j through: %s', (filter, data, isTold) => {
  expect(wants(endpoint({ filter }), change('article.edited', data))).toBe(isTold);
});

test('a book finds those that are enabled, as they are now', () => {
  const book = new EndpointBook([endpoint()]);
  const edited = change('article.edited');
  expect(book.wanting(edited)).toHaveLength(1);
  book.set(endpoint({ status: 'disabled' }));
  expect(book.wanting(edited)).toEqual([]);
  book.set(endpoint());
  expect(book.wanting(edited)).toHaveLength(1);
  book.set(endpoint({ status: 'deleted' }));
  expect(book.get(1 as WebhookId)).toBeUndefined();
});
