import { describe, expect } from 'vitest';
import { ARTICLE, test as base, createWriteApi, make, type WriteApi } from '../../test/engines/write-api.ts';

const test = base.extend('strict', { scope: 'file' }, async ({ writeOptions }, { onCleanup }) => {
  const strict = await createWriteApi({ ...writeOptions, requireIfMatch: true });
  onCleanup(() => strict[Symbol.asyncDispose]());
  return strict;
});

type Change = [method: string, end: string, body?: unknown, type?: string];

/** Every change of an existing article. */
const CHANGES: readonly Change[] = [
  ['PUT', '', { ...ARTICLE, cover: null, title: 'Two' }],
  ['PATCH', '', { title: 'Three' }],
  ['PATCH', '', [{ op: 'replace', path: '/title', value: 'Four' }], 'application/json-patch+json'],
  ['POST', '/publish'],
  ['POST', '/unpublish'],
  ['DELETE', ''],
];

/** edge/http/entity-tag.test.ts tests the content of the headers. */
describe.each<Change>(CHANGES)('%s /articles/{id}%s %j', (method, end, body, type = 'application/json') => {
  const open = async (of: WriteApi) => {
    const path = `/articles/${await make(of, '/articles', { ...ARTICLE, publish: end === '/unpublish' })}`;
    const { headers } = await of.send('PATCH', path, {
      body: { title: 'Zero' },
      headers: { 'If-Match': '*' },
    });
    return { path, etag: String(headers.get('etag')) };
  };
  const change = (of: WriteApi, path: string, headers: Readonly<Record<string, string>> = {}) =>
    of.send(method, `${path}${end}`, { body, headers: { 'Content-Type': type, ...headers } });

  test.for<[string, (etag: string) => Readonly<Record<string, string>>, boolean]>([
    ['its tag', (etag) => ({ 'If-Match': etag }), true],
    ['any version', () => ({ 'If-Match': '*' }), true],
    ['several tags, of which one is its own', (etag) => ({ 'If-Match': `"1-x", ${etag}` }), true],
    ['older and newer versions', () => ({ 'If-Match': '"1-a", "99-b"' }), false],
    ['a foreign tag', () => ({ 'If-Match': '"abc"' }), false],
    ['any version but its own', (etag) => ({ 'If-None-Match': `"99-x", ${etag}` }), false],
    ['no version', () => ({ 'If-None-Match': '*' }), false],
    ['any version but another', () => ({ 'If-None-Match': '"1-x"' }), true],
  ])('of %s', async ([, headersFor, isDone], { api }) => {
    const { path, etag } = await open(api);
    const head = await api.side.eventLog.head();
    const answer = await change(api, path, headersFor(etag));
    if (isDone) return expect(answer.status).toBe(method === 'DELETE' ? 204 : 200);
    expect(answer).toMatchObject({ status: 412, body: { code: 'version_mismatch' } });
    expect(await api.side.eventLog.head()).toBe(head);
  });

  test('requires a version only if REQUIRE_IF_MATCH is on', async ({ strict }) => {
    const { path, etag } = await open(strict);
    expect(await change(strict, path)).toMatchObject({
      status: 428,
      body: { code: 'precondition_required' },
    });
    expect((await change(strict, path, { 'If-Match': etag })).status).toBeLessThan(300);
  });
});

test('a refusal names the current version, and a missing right is reported before', async ({ api }) => {
  const path = `/articles/${await make(api, '/articles', { ...ARTICLE, publish: true })}`;
  const stale = { body: { title: 'x' }, headers: { 'If-Match': '"1-a"' } };
  expect((await api.send('PATCH', path, stale)).body).toMatchObject({ details: { version: 2 } });
  expect(await api.send('PATCH', path, { ...stale, by: api.reader })).toMatchObject({ status: 403 });
  expect(await api.send('PATCH', '/articles/4', stale)).toMatchObject({ status: 404 });
});

test('a creation needs no version', async ({ strict }) => {
  expect((await strict.send('POST', '/articles', { body: ARTICLE })).status).toBe(201);
});
