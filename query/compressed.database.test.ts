import { expect } from 'vitest';
import { test as base } from '../test/engines/backend.ts';

const test = base
  .extend('path', { scope: 'file' }, async ({ author, backend }) => {
    const body = { title: 'Long', body: 'All of it. '.repeat(1_000), tags: [], cover: null };
    const { status, body: written } = await backend.ask('/articles', { by: author, method: 'POST', body });
    expect(status).toBe(201);
    return `/articles/${(written as { readonly id: number }).id}`;
  })
  .extend(
    'read',
    { scope: 'file' },
    ({ author, backend, path }) =>
      (coding: string, more: { readonly method?: string; readonly headers?: Record<string, string> } = {}) =>
        backend.ask(path, { by: author, ...more, headers: { 'accept-encoding': coding, ...more.headers } }),
  );

test('a long answer is compressed as the client prefers, and each encoding has its own strong tag', async ({
  read,
}) => {
  const plain = await read('identity');
  expect(plain.headers.get('content-encoding')).toBeNull();
  const tags = new Set([plain.headers.get('etag')]);
  for (const coding of ['zstd', 'br', 'gzip']) {
    const compressed = await read(coding);
    expect(compressed.headers.get('content-encoding')).toBe(coding);
    expect(compressed.headers.get('vary')?.split(', ')).toEqual(
      expect.arrayContaining(['Accept', 'Accept-Encoding', 'Authorization']),
    );
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(1_000);
    expect(compressed.body).toEqual(plain.body);
    const tag = compressed.headers.get('etag') ?? '';
    expect(tag).toMatch(/^"/);
    tags.add(tag);
    const again = await read(coding, { headers: { 'if-none-match': tag } });
    expect([again.status, again.headers.get('etag')]).toEqual([304, tag]);
    expect((await read('identity', { headers: { 'if-none-match': tag } })).status).toBe(200);
    const head = await read(coding, { method: 'HEAD' });
    for (const name of ['etag', 'content-encoding', 'content-length', 'vary'])
      expect(head.headers.get(name)).toBe(compressed.headers.get(name));
  }
  expect(tags.size).toBe(4);
});

test('If-Match accepts the tag of a compressed answer', async ({ author, backend, path, read }) => {
  const tag = (await read('zstd')).headers.get('etag') ?? '';
  const edit = () =>
    backend.ask(path, {
      by: author,
      method: 'PATCH',
      headers: { 'if-match': tag },
      body: { title: 'Longer' },
    });
  expect((await edit()).status).toBe(200);
  expect((await edit()).status).toBe(412);
});

test('a short answer is not compressed, nor one to a client that accepts no encoding', async ({
  backend,
  read,
}) => {
  const { headers } = await backend.ask('/event-types/none', {
    headers: { 'accept-encoding': 'zstd, br, gzip' },
  });
  expect(headers.get('content-encoding')).toBeNull();
  expect((await read('deflate')).headers.get('content-encoding')).toBeNull();
});

test('GraphQL answers are compressed, except those to mutations, which may contain a secret', async ({
  author,
  backend,
  path,
}) => {
  const graphql = (query: string) =>
    backend.ask('/graphql', {
      by: author,
      method: 'POST',
      headers: { 'accept-encoding': 'zstd' },
      body: { query },
    });
  const queried = await graphql(`{ post(id: ${path.split('/').at(-1)}) { body } }`);
  expect(queried.headers.get('content-encoding')).toBe('zstd');
  expect(queried.body).toMatchObject({ data: { post: { body: expect.stringContaining('All of it.') } } });
  const body = 'x'.repeat(5_000);
  const mutated = await graphql(`mutation { createPost(input: { title: "Two", body: "${body}" }) { body } }`);
  expect(mutated.body).toMatchObject({ data: { createPost: { body } } });
  expect(mutated.headers.get('content-encoding')).toBeNull();
});
