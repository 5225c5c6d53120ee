// Over 200 lines, because all cases read the past of one backend.
import { expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { addComment, draftArticle } from '../../test/engines/command-side.ts';
import { SCOPES } from '../../test/engines/policy.ts';
import { appendRaw } from '../../test/engines/projection.ts';
import { scaled } from '../../testing/load.ts';

const test = base
  .extend('ask', { scope: 'file' }, ({ backend }) => async (path: string, asker: Asker | null) => {
    const { status, headers, body } = await backend.ask(path, { by: asker });
    return { status, headers, body: body as Readonly<Record<string, never>> };
  })
  .extend('codeOf', { scope: 'file' }, ({ ask }) => async (path: string, asker: Asker | null) => {
    return (await ask(path, asker)).body.code;
  });

test('the answer names its position, and a request with that position repeats it', async ({
  ask,
  author,
  backend,
  cursorNow,
  reader,
  send,
}) => {
  const articleId = await draftArticle(backend.side, author.id);
  const before = await cursorNow();
  await send({ type: 'EditArticle', articleId, title: 'On looms' }, author);
  await send({ type: 'UpdateUser', userId: author.id, name: 'Ada King' }, author);
  const { status, headers, body } = await ask(`/articles/${articleId}?at=${before}`, reader);
  expect([status, headers.get('as-of'), headers.get('etag')]).toEqual([
    200,
    before,
    expect.stringMatching(/^"2-/),
  ]);
  expect(body).toMatchObject({ title: 'On engines', author: { name: 'Ada' } });
  expect(new Date(headers.get('memento-datetime') ?? '').getTime()).toBe(
    Math.floor(Date.parse(body.updatedAt ?? '') / 1_000) * 1_000,
  );
  expect(headers.get('link')).toBe(`</articles/${articleId}>; rel="original latest-version"`);
  // Rights are checked each time, and an erasure changes the past.
  expect(headers.get('cache-control')).toBe('private, no-cache');
  expect(body._links).toEqual({
    self: { href: `/articles/${articleId}?at=${before}` },
    author: { href: `/users/${author.id}?at=${before}` },
    comments: { href: `/articles/${articleId}/comments?at=${before}` },
    latest: { href: `/articles/${articleId}` },
  });
  for (const { href } of Object.values(body._links ?? {}) as { href: string }[])
    expect((await ask(href, reader)).status).toBe(200);
  const byVersion = await ask(`/articles/${articleId}?at=v2`, reader);
  expect([byVersion.headers.get('as-of'), byVersion.body]).toEqual([before, body]);
  // So that it is refused if another event is at its position after a loss.
  expect(before).toMatch(/^[0-9a-f]{8}-[0-9a-z]+-[0-9a-f]{8}$/);
  const unnamed = before.slice(0, -9);
  expect((await ask(`/articles/${articleId}?at=${unnamed}`, reader)).headers.get('as-of')).toBe(before);
  expect((await ask(`/articles/${articleId}?at=${unnamed}-00000000`, reader)).body).toMatchObject({
    code: 'cursor_of_lost_history',
  });
  const known = await backend.ask(`/articles/${articleId}?at=v2`, {
    by: reader,
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  });
  expect(known.status).toBe(304);
});

test('a time may have lower-case letters, as RFC 3339 allows', async ({ ask, author, backend }) => {
  const path = `/articles/${await draftArticle(backend.side, author.id)}`;
  const at = String((await ask(path, author)).body.updatedAt);
  const [one, other] = [
    await ask(`${path}?at=${at}`, author),
    await ask(`${path}?at=${at.toLowerCase()}`, author),
  ];
  expect([other.status, other.headers.get('as-of')]).toEqual([200, one.headers.get('as-of')]);
});

test.for<[string, string]>([
  ['2999-01-01T00:00:00Z', 'invalid_parameter'],
  ['2026-13-01T00:00:00Z', 'invalid_parameter'],
  ['yesterday', 'invalid_parameter'],
  ['v0', 'invalid_parameter'],
  ['v99', 'version_not_found'],
  ['00000000-1', 'unknown_cursor'],
])('at=%s is refused: %s', async ([moment, code], { author, backend, codeOf, cursorNow }) => {
  const articleId = await draftArticle(backend.side, author.id);
  expect(await codeOf(`/articles/${articleId}?at=${moment}`, author)).toBe(code);
  const query = `{ post(id: "${articleId}", at: "${moment}") { id } }`;
  const { body } = await backend.ask('/graphql', {
    by: author,
    method: 'POST',
    body: { query },
    headers: { 'consistency-token': await cursorNow() },
  });
  expect((body as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code).toBe(code);
});

test('a cursor beyond the end is refused, and lists refuse versions, searches and other orders', async ({
  backend,
  codeOf,
  cursorNow,
  reader,
}) => {
  const beyond = formatCursor(
    backend.side.eventLog.identity,
    ((await backend.side.eventLog.head()) + 1_000) as never,
  );
  expect(await codeOf(`/articles?at=${beyond}`, reader)).toBe('unknown_cursor');
  const now = await cursorNow();
  for (const query of ['at=v1', `at=${now}&q=looms`, `at=${now}&sort=-publishedAt`])
    expect(await codeOf(`/articles?${query}`, reader)).toBe('invalid_parameter');
});

test('a state that a caller could not read then, or cannot now, is for administrators only', async ({
  admin,
  ask,
  author,
  backend,
  codeOf,
  cursorNow,
  reader,
  send,
}) => {
  const articleId = await draftArticle(backend.side, author.id, false);
  await send({ type: 'PublishArticle', articleId }, author);
  const commentId = await addComment(backend.side, reader.id, articleId);
  expect(await codeOf(`/articles/${articleId}?at=v1`, reader)).toBe('article_not_found');
  expect((await ask(`/articles/${articleId}?at=v1`, author)).body).toMatchObject({ status: 'draft' });
  const published = await cursorNow();
  await send({ type: 'UnpublishArticle', articleId }, author);
  for (const path of [
    `/articles/${articleId}?at=v2`,
    `/articles/${articleId}/comments?at=${published}`,
    `/comments/${commentId}?at=v1`,
  ]) {
    expect((await ask(path, reader)).status, path).toBe(404);
    expect((await ask(path, author)).status, path).toBe(200);
  }
  await send({ type: 'DeleteArticle', articleId }, author);
  await expect
    .poll(async () => (await ask(`/comments/${commentId}`, admin)).status, { timeout: scaled(20_000) })
    .toBe(404);
  const blind = { ...admin, scopes: SCOPES.filter((scope) => scope !== 'read:events') };
  for (const path of [
    `/articles/${articleId}?at=v2`,
    `/articles/${articleId}/comments?at=${published}`,
    `/comments/${commentId}?at=v1`,
  ]) {
    for (const asker of [author, blind, null]) expect((await ask(path, asker)).status, path).toBe(404);
    expect((await ask(path, admin)).status, path).toBe(200);
  }
  const { body } = await ask(`/articles/${articleId}?at=v2`, admin);
  expect(body._links).not.toHaveProperty('latest');
  expect(await codeOf(`/articles/${articleId}?at=${await cursorNow()}`, admin)).toBe('article_deleted');
  const listed = async (asker: Asker) =>
    ((await ask(`/articles?at=${published}&limit=100`, asker)).body as unknown as { id: number }[]).map(
      ({ id }) => id,
    );
  expect(await listed(admin)).toContain(articleId);
  expect(await listed(author)).not.toContain(articleId);
});

test('a poison event does not affect the states before it, and parks those after it', async ({
  admin,
  ask,
  author,
  backend,
  codeOf,
}) => {
  const articleId = await draftArticle(backend.side, author.id);
  await appendRaw(
    backend.side,
    `article-${articleId}`,
    { type: 'article.edited', data: { articleId, authorId: author.id, more: 1 } },
    2,
  );
  expect((await ask(`/articles/${articleId}?at=v2`, admin)).body).toMatchObject({ title: 'On engines' });
  for (const [moment, asker] of [
    ['v3', admin],
    ['v2', author],
  ] as const)
    expect(await codeOf(`/articles/${articleId}?at=${moment}`, asker)).toBe('parked');
});

/** Last, because it writes an event in the future. */
test('a time includes everything done by then', async ({ ask, author, backend, codeOf }) => {
  const articleId = await draftArticle(backend.side, author.id);
  const { body } = await ask(`/articles/${articleId}`, author);
  const late = new Date(Date.parse(body.updatedAt ?? '') + 60_000).toISOString();
  await appendRaw(
    backend.side,
    `article-${articleId}`,
    {
      type: 'article.edited',
      data: { articleId, authorId: author.id, title: 'Later' },
      metadata: {
        version: 1,
        at: late,
        actor: 'anonymous',
        client: null,
        request: 'r',
        $correlationId: 'c',
        $causationId: null,
      },
    },
    2,
  );
  const then = await ask(`/articles/${articleId}?at=${body.updatedAt}`, author);
  expect(then.body).toMatchObject({ title: 'On engines' });
  const elsewhere = encodeURIComponent(
    new Date(Date.parse(body.updatedAt ?? '') + 3_600_000).toISOString().replace('Z', '+01:00'),
  );
  expect((await ask(`/articles/${articleId}?at=${elsewhere}`, author)).headers.get('as-of')).toBe(
    then.headers.get('as-of'),
  );
  expect(await codeOf(`/articles/${articleId}?at=2020-01-01T00:00:00Z`, author)).toBe('not_there_then');
});
