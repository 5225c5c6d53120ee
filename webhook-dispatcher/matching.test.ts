import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName, UserId, Version, WebhookId } from '#kernel/base/brands.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Owners } from '#shared/webhooks/owners.ts';
import type { PlannedEndpoint } from '#shared/webhooks/planned-endpoint.ts';
import { isVisibleTo } from '#shared/webhooks/wanted.ts';
import { POLICY } from '../test/engines/policy.ts';
import { EndpointBook } from './matching.ts';

const endpointOf = (webhookId: number, changes: Partial<PlannedEndpoint> = {}): PlannedEndpoint => ({
  webhookId: webhookId as WebhookId,
  ownerId: 1 as UserId,
  scopes: new Set(['read:articles']),
  version: 1 as Version,
  status: 'enabled',
  eventTypes: ['article.*'],
  filter: {},
  payload: 'thin',
  format: 'annals',
  isOrdered: false,
  limits: { ratePerSecond: 1, concurrency: 1 },
  ...changes,
});
const bookOf = (endpoints: readonly PlannedEndpoint[]) => new EndpointBook(filtersOf(publishing), endpoints);
const wanting = (
  book: EndpointBook,
  type: string,
  { stream = 'article-8', ...data }: { readonly [field: string]: unknown } = {},
) => book.wanting({ type, stream, data } as unknown as Change).map(({ webhookId }) => webhookId);

test.each([
  ['*', true],
  ['article.*', true],
  ['article.edited', true],
  ['article.published', false],
  ['comment.*', false],
])('%s matches article.edited: %s', (pattern, isWanted) => {
  expect(wanting(bookOf([endpointOf(1, { eventTypes: [pattern] })]), 'article.edited')).toEqual(
    isWanted ? [1] : [],
  );
});

test('a filter selects events of the article, or of what the author wrote', () => {
  const book = bookOf([
    endpointOf(1, { filter: { articleId: 8 }, eventTypes: ['*'] }),
    endpointOf(2, { filter: { authorId: 7 }, eventTypes: ['*'] }),
  ]);
  expect(wanting(book, 'article.edited', { articleId: 8, authorId: 7 })).toEqual([1, 2]);
  expect(wanting(book, 'article.edited', { stream: 'article-9', articleId: 9, authorId: 7 })).toEqual([2]);
  expect(wanting(book, 'comment.added', { stream: 'comment-1', articleId: 8, authorId: 1 })).toEqual([1]);
  expect(wanting(book, 'article.edited', { stream: 'webhook-1' })).toEqual([]);
  // An unknown filter matches nothing.
  expect(
    wanting(bookOf([endpointOf(1, { filter: { journalId: 8 } })]), 'article.edited', { journalId: 8 }),
  ).toEqual([]);
});

test('matching webhooks reflect each of their changes', () => {
  const book = bookOf([endpointOf(1)]);
  const first = book.get(1 as WebhookId) as PlannedEndpoint;
  expect(wanting(book, 'article.edited')).toEqual([1]);
  book.set({ ...first, version: 2 as Version });
  book.set(endpointOf(2));
  expect(wanting(book, 'article.edited')).toEqual([1, 2]);
  book.set({ ...first, eventTypes: ['comment.*'] });
  expect([wanting(book, 'article.edited'), wanting(book, 'comment.added')]).toEqual([[2], [1]]);
  book.set(endpointOf(2, { status: 'disabled' }));
  book.set({ ...first, status: 'deleted' });
  expect([wanting(book, 'article.edited'), wanting(book, 'comment.added'), book.size]).toEqual([[], [], 1]);
});

test('matching webhooks have their present scopes', () => {
  const book = bookOf([endpointOf(1)]);
  const scopesOf = () =>
    book.wanting({ type: 'article.edited', data: {} } as Change).map(({ scopes }) => [...scopes]);
  expect(scopesOf()).toEqual([['read:articles']]);
  book.set(endpointOf(1, { scopes: new Set() }));
  expect(scopesOf()).toEqual([[]]);
});

test('an owner may see what is public, and what scopes and present role allow', () => {
  const owners: Owners = new Map([[1 as UserId, [{ role: 'author' }]]]);
  const comment = {
    type: 'comment.added',
    stream: 'comment-3',
    right: 'comment.read',
    resource: { articleStatus: 'published' },
  } as unknown as Change;
  const draft = {
    type: 'article.edited',
    stream: 'article-2',
    right: 'article.read',
    resource: { articleStatus: 'draft', ownerId: 1 as UserId },
  } as unknown as Change;
  const known = (scopes: readonly string[], ofOwners: Owners = owners) =>
    [comment, draft].map((change) =>
      isVisibleTo({ owners: ofOwners, policy: POLICY }, endpointOf(1, { scopes: new Set(scopes) }), change),
    );
  expect(known([])).toEqual([true, false]);
  expect(known(['read:articles'])).toEqual([true, true]);
  expect(known(['read:comments', 'manage:webhooks'])).toEqual([true, false]);
  expect(known(['read:articles', 'read:comments'], new Map([[1 as UserId, [{ role: 'reader' }]]]))).toEqual([
    true,
    false,
  ]);
  expect(
    known(['read:articles'], new Map([[1 as UserId, [{ role: 'author' }, { role: 'reader' }]]])),
  ).toEqual([true, true]);
  expect(known(['read:articles', 'read:comments'], new Map())).toEqual([false, false]);
});

test('no owner may see an event of an unknown kind, not even an administrator', () => {
  const planted = {
    type: 'article.published',
    stream: 'gadget-1',
    right: 'article.read',
    resource: { articleStatus: 'published' },
  } as unknown as Change;
  const endpoint = endpointOf(1, { scopes: new Set(['read:articles']) });
  expect(
    isVisibleTo({ owners: new Map([[1 as UserId, [{ role: 'admin' }]]]), policy: POLICY }, endpoint, planted),
  ).toBe(false);
  expect(
    isVisibleTo({ owners: new Map([[1 as UserId, [{ role: 'admin' }]]]), policy: POLICY }, endpoint, {
      ...planted,
      stream: 'article-2' as StreamName,
    }),
  ).toBe(true);
});
