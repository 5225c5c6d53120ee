import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import { policyOf } from '#shared/policy.ts';
import { test as base } from '../../test/engines/backend.ts';
import { untilProjected } from '../../test/engines/projection.ts';
import { until } from '../../testing/until.ts';
import { readChainEnd } from '../stored/blocks.ts';
import { checkItemProof } from '../tree/item-file.ts';
import { parseVerifierKey } from '../tree/note.ts';

/** An article with 301 versions among the events of another one, and a chain that has reached all of them. */
const test = base
  .extend('articles', { scope: 'file' }, async ({ author, write }) => {
    const draft = { title: 'On items', body: '', tags: [] };
    const [article, other] = [
      await write(author, 'POST', '/articles', draft),
      await write(author, 'POST', '/articles', draft),
    ];
    for (let at = 0; at < 300; at += 1) {
      await write(author, 'PATCH', `/articles/${article}`, { title: `On items, ${at}` });
      if (at % 10 === 0) await write(author, 'PATCH', `/articles/${other}`, { title: `On others, ${at}` });
    }
    return { article, other };
  })
  .extend('reachChain', { scope: 'file' }, async ({ backend }, { onCleanup }) => {
    const chain = await backend.startChain();
    onCleanup(() => chain[Symbol.asyncDispose]());
    return async () => {
      const head = await backend.side.eventLog.head();
      await until(
        () => readChainEnd(backend.side.pool),
        ({ position }) => position >= head,
      );
    };
  })
  .extend('proven', { scope: 'file' }, async ({ articles, reachChain }) => {
    await reachChain();
    return articles;
  })
  .extend('get', { scope: 'file' }, ({ admin, backend }) => async (path: string, by = admin) => {
    await untilProjected(backend.side);
    const response = await fetch(`${backend.url}${path}`, { headers: await backend.authorization(by) });
    const { body } = await backend.ask('/audit/keys', {});
    const [{ vkey }] = (body as { readonly keys: readonly [{ readonly vkey: string }] }).keys;
    const key = parseVerifierKey(vkey);
    const text = await response.text();
    return { response, text, checked: checkItemProof(text, key === undefined ? [] : [key]) };
  });

test('an administrator gets a file that proves all versions of an item', async ({ get, proven }) => {
  const { response, checked } = await get(`/articles/${proven.article}/proof`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  if (!checked.isProven) throw new Error(checked.reason);
  expect(checked.stream).toBe(`article-${proven.article}`);
  expect(checked.events.map(({ version }) => version)).toEqual(
    Array.from({ length: 301 }, (_, at) => at + 1),
  );
  expect(checked.facts).toContainEqual({ name: 'title', value: 'On items, 299', version: 301 });
});

test('at one checkpoint, the same item has the same bytes', async ({ get, proven, reachChain }) => {
  // The first request registers the administrator.
  await get(`/articles/${proven.other}/proof`);
  await reachChain();
  const [one, other] = [
    await get(`/articles/${proven.other}/proof`),
    await get(`/articles/${proven.other}/proof`),
  ];
  expect(one.text).toBe(other.text);
});

test('`at` ends a proof at a version', async ({ get, proven }) => {
  const { checked } = await get(`/articles/${proven.article}/proof?at=v5`);
  expect(checked).toMatchObject({ isProven: true, facts: expect.arrayContaining([]) });
  if (checked.isProven) expect(checked.events).toHaveLength(5);
});

test('a user is proven with personal fields still sealed', async ({ author, backend, get, proven }) => {
  expect(proven.article).toBeGreaterThan(0);
  const { checked, text } = await get(`/users/${author.id}/proof`);
  expect(checked).toMatchObject({ isProven: true, stream: `user-${author.id}` });
  const { body } = await backend.ask(`/users/${author.id}`, { by: author });
  expect(text).not.toContain((body as { readonly name: string }).name);
});

test('a deleted item is proven with its end', async ({ author, backend, get, reachChain, write }) => {
  const id = await write(author, 'POST', '/articles', { title: 'To be deleted', body: '', tags: [] });
  expect(await backend.ask(`/articles/${id}`, { method: 'DELETE', by: author })).toMatchObject({
    status: 204,
  });
  await reachChain();
  const { checked } = await get(`/articles/${id}/proof`);
  expect(checked.isProven && checked.events.map(({ type }) => type)).toEqual([
    'article.drafted',
    'article.deleted',
  ]);
});

test('a deleted user is proven as it was recorded, with nothing in the clear', async ({
  backend,
  get,
  reachChain,
}) => {
  const { id } = await backend.person('author', 'Somebody Departed');
  const admin = await backend.person('admin');
  await backend.ask(`/users/${id}`, { method: 'DELETE', by: admin });
  await reachChain();
  const { checked, text } = await get(`/users/${id}/proof`);
  expect(checked.isProven && checked.events.map(({ type }) => type)).toEqual([
    'user.registered',
    'user.deleted',
  ]);
  expect(text).not.toContain('Departed');
});

test('a parked item is proven with the event that cannot be applied', async ({
  author,
  backend,
  get,
  reachChain,
  write,
}) => {
  const id = await write(author, 'POST', '/articles', { title: 'To be parked', body: '', tags: [] });
  const { eventLog } = backend.side;
  await eventLog.append(`article-${id}` as StreamName, 1 as Version, [
    {
      id: randomUUID() as EventId,
      type: 'article.edited',
      data: { articleId: id, authorId: author.id, title: 7 },
      metadata: {
        ...{ actor: `user:${author.id}`, client: null, request: 'test', correlation: 'test' },
        ...{ causation: null, at: '2026-11-30T10:00:00.000Z' },
      },
    } as never,
  ]);
  await reachChain();
  expect((await get(`/articles/${id}`)).response.status).toBe(503);
  const { checked } = await get(`/articles/${id}/proof`);
  expect(checked).toMatchObject({
    isProven: true,
    events: [{ version: 1 }, { version: 2, data: { title: 7 } }],
  });
});

test('a proof at a time before an item was there is refused', async ({ backend, admin, proven }) => {
  expect(
    await backend.ask(`/articles/${proven.article}/proof?at=2020-01-01T00:00:00Z`, { by: admin }),
  ).toMatchObject({ status: 404, body: { code: 'not_there_then' } });
});

test.for([
  ['/articles/999999/proof', 404, 'article_not_found'],
  ['/articles/nothing/proof', 404, 'article_not_found'],
  ['/webhooks/999999/proof', 404, 'webhook_not_found'],
  ['/articles/999999/proof?at=v9', 404, 'version_not_found'],
  ['/articles/1/proof?limit=3', 400, 'invalid_parameter'],
] as const)('%s is refused with %i %s', async ([path, status, code], { admin, backend }) => {
  expect(await backend.ask(path, { by: admin })).toMatchObject({ status, body: { code } });
});

test('others get no proof, because it has everything that was recorded', async ({
  author,
  backend,
  proven,
}) => {
  const path = `/articles/${proven.article}/proof`;
  expect(await backend.ask(path, { by: author })).toMatchObject({ status: 403 });
  expect(await backend.ask(path)).toMatchObject({ status: 401 });
});

test('the proof of a webhook needs the right to manage it', async ({ admin, backend }) => {
  const scopes = policyOf(publishing).scopes.filter((scope) => scope !== 'manage:webhooks');
  expect(await backend.ask('/webhooks/999999/proof', { by: { ...admin, scopes } })).toMatchObject({
    status: 403,
    body: { code: 'insufficient_scope' },
  });
});
