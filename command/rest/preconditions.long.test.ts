import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ARTICLE, createWriteApi, make, type WriteApi } from '../../test/engines/write-api.ts';

let api: WriteApi;
let strict: WriteApi;
beforeAll(async () => {
  api = await createWriteApi();
  strict = await createWriteApi({ requireIfMatch: true });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await strict?.[Symbol.asyncDispose]();
});

type Change = [method: string, end: string, body?: unknown, type?: string];

/** Every change of an existing article, in an order in which each has an effect. */
const CHANGES: readonly Change[] = [
  ['PUT', '', { ...ARTICLE, cover: null, title: 'Two' }],
  ['PATCH', '', { title: 'Three' }],
  ['PATCH', '', [{ op: 'replace', path: '/title', value: 'Four' }], 'application/json-patch+json'],
  ['POST', '/publish'],
  ['POST', '/unpublish'],
  ['DELETE', ''],
];
const headersOf = (type = 'application/json', more: Record<string, string> = {}) => ({
  'Content-Type': type,
  ...more,
});

describe.each<Change>(CHANGES)('%s /articles/{id}%s %j', (method, end, body, type) => {
  const open = async (of = api) => {
    const path = `/articles/${await make(of, '/articles', { ...ARTICLE, publish: end === '/unpublish' })}`;
    const { headers } = await of.send('PATCH', path, {
      body: { title: 'Zero' },
      headers: { 'If-Match': '*' },
    });
    return { path, etag: String(headers.get('etag')) };
  };
  const change = (of: WriteApi, path: string, ifMatch?: string) =>
    of.send(method, `${path}${end}`, {
      body,
      headers: headersOf(type, ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
    });

  test.each<[string, (etag: string) => string]>([
    ['its tag', (etag) => etag],
    ['its tag made weak by a proxy', (etag) => `W/${etag}`],
    ['a tag of the same version in another form', (etag) => `${etag.split('-', 1)[0]}-${'x'.repeat(16)}"`],
    ['any', () => '*'],
    ['several, of which one is its own', (etag) => `"1-x", ${etag}`],
    ['a comma too many', (etag) => `,${etag} , `],
  ])('succeeds if If-Match contains %s', async (_, ifMatch) => {
    const { path, etag } = await open();
    expect((await change(api, path, ifMatch(etag))).status).toBe(method === 'DELETE' ? 204 : 200);
  });

  test.each<[string, string]>([
    ['an older version', '"1-aaaaaaaaaaaaaaaa"'],
    ['several older versions', '"1-a", "99-b"'],
    ['an older version made weak', 'W/"1-aaaaaaaaaaaaaaaa"'],
    ['a newer version', '"99-aaaaaaaaaaaaaaaa"'],
    ['what is no tag of ours', '"abc"'],
    ['the empty tag', '""'],
  ])('is refused if it contains %s', async (_, ifMatch) => {
    const { path, etag } = await open();
    const head = await api.side.eventLog.head();
    expect(await change(api, path, ifMatch)).toMatchObject({
      status: 412,
      body: { code: 'version_mismatch', details: { version: Number(/\d+/.exec(etag)?.[0]) } },
    });
    expect(await api.side.eventLog.head()).toBe(head);
  });

  test.each(['abc', '"abc', '2', '"1-a" "2-b"', '"1-a", x', ',', '"a\tb"'])(
    'is refused as malformed where it holds %s',
    async (ifMatch) => {
      const { path } = await open();
      expect(await change(api, path, ifMatch)).toMatchObject({
        status: 400,
        body: { code: 'malformed_request' },
      });
    },
  );

  test.each<[string, (etag: string) => string, boolean]>([
    ['any version', () => '*', false],
    ['its tag', (etag) => etag, false],
    ['its tag among others', (etag) => `"99-x", W/${etag}`, false],
    ['another version', () => '"1-x"', true],
  ])('with If-None-Match: %s', async (_, ifNoneMatch, isDone) => {
    const { path, etag } = await open();
    const head = await api.side.eventLog.head();
    const answer = await api.send(method, `${path}${end}`, {
      body,
      headers: headersOf(type, { 'If-None-Match': ifNoneMatch(etag) }),
    });
    if (isDone) return expect(answer.status).toBeLessThan(300);
    expect(answer).toMatchObject({ status: 412, body: { code: 'version_mismatch' } });
    expect(await api.side.eventLog.head()).toBe(head);
  });

  test('requires it only if REQUIRE_IF_MATCH is on', async () => {
    const { path, etag } = await open(strict);
    expect(await change(strict, path)).toMatchObject({
      status: 428,
      body: { code: 'precondition_required' },
    });
    expect((await change(strict, path, etag)).status).toBeLessThan(300);
  });
});

test('a missing right is reported whatever the version', async () => {
  const path = `/articles/${await make(api, '/articles', { ...ARTICLE, publish: true })}`;
  const headers = { 'If-Match': '"1-a"' };
  expect(await api.send('PATCH', path, { body: { title: 'x' }, headers, by: api.reader })).toMatchObject({
    status: 403,
  });
  expect(await api.send('PATCH', '/articles/4', { body: { title: 'x' }, headers })).toMatchObject({
    status: 404,
  });
});

test('a creation needs no version', async () => {
  expect((await strict.send('POST', '/articles', { body: ARTICLE })).status).toBe(201);
});
