import { describe, expect } from 'vitest';
import { sendRaw } from '../../test/engines/raw-request.ts';
import {
  GOOD_WRITES,
  isCreation,
  isOnItem,
  pathOf,
  test,
  WRITE_OF_EACH_KIND,
  WRITES_EXPECTED,
} from '../../test/engines/write-operations.ts';

const GARBAGE_IDS = [
  '0',
  '-1',
  '01',
  '1.5',
  '1e3',
  '0x10',
  'abc',
  '9007199254740992',
  '9'.repeat(40),
  '%00',
  '%20',
  "1'--",
  '1;drop',
  '..%2f..',
  'null',
  '%F0%9F%92%A9',
  '1%0d%0aSet-Cookie:%20a=b',
  '__proto__',
  'constructor',
];
const ACCEPTS = [
  'text/html',
  'application/xml',
  'image/*',
  'application/json;q=0',
  'application/problem+json',
];
/** What the header may contain is in edge/http/entity-tag.test.ts. */
const IF_MATCH = [
  ['"999-a"', 412, 'version_mismatch'],
  ['abc', 400, 'malformed_request'],
] as const;

test('the table contains every write', () => {
  expect(new Set(GOOD_WRITES.map(({ operation }) => operation)).size).toBe(WRITES_EXPECTED);
});

const pathWith = ({ operation }: (typeof GOOD_WRITES)[number], id: string | number): string =>
  pathOf(operation, { userId: id, articleId: id, commentId: id, webhookId: id });

test.for(GOOD_WRITES.filter(isOnItem))(
  '$name answers an invalid id like an absent one',
  async (write, { refuse }) => {
    const invalid = await refuse(write, { path: pathWith(write, 'abc') });
    const absent = await refuse(write, { path: pathWith(write, 5) });
    expect(invalid.status).toBe(404);
    expect({ ...invalid.body, requestId: 0 }).toEqual({ ...absent.body, requestId: 0 });
  },
);

test.for(GOOD_WRITES)('$name refuses query parameters', async (write, { items, refuse }) => {
  const path = `${pathOf(write.operation, items)}?publish=true&a%5Bb%5D=1&__proto__=x`;
  const answer = await refuse(write, { path });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
  expect(answer.body.errors).toContainEqual({
    parameter: 'publish',
    detail: 'There is no such parameter.',
  });
});

describe.for(WRITE_OF_EACH_KIND)('$name', (write) => {
  const { operation, type, body } = write;

  test.for(isOnItem(write) ? GARBAGE_IDS : [])('does not find the id %s', async (id, { refuse }) => {
    const answer = await refuse(write, { path: pathWith(write, id) });
    expect(answer).toMatchObject({
      status: 404,
      body: { code: expect.stringMatching(/^(user|article|comment|webhook)_not_found$/) },
    });
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test.for(isOnItem(write) ? ['%ff', '%2'] : [])(
    'refuses the path %s, which is no UTF-8',
    async (id, { refuse }) => {
      expect(await refuse(write, { path: pathWith(write, id) })).toMatchObject({
        status: 400,
        body: { code: 'malformed_request' },
      });
    },
  );

  test.for(ACCEPTS)('refuses Accept: %s', async (Accept, { refuse }) => {
    expect(await refuse(write, { headers: { Accept } })).toMatchObject({
      status: 406,
      body: { code: 'not_acceptable' },
    });
  });

  test.for(isCreation(write) ? [] : IF_MATCH)(
    'refuses If-Match: %s by %d',
    async ([ifMatch, status, code], { refuse }) => {
      expect(await refuse(write, { headers: { 'If-Match': ifMatch } })).toMatchObject({
        status,
        body: { code },
      });
    },
  );

  test.for(['a b', '', 'é', 'x'.repeat(256)])('refuses the key %.9s', async (key, { refuse }) => {
    expect(await refuse(write, { headers: { 'Idempotency-Key': key } })).toMatchObject({
      status: 400,
      body: { code: 'malformed_request' },
    });
  });

  test('refuses a token in the query, and a forged one', async ({ api, items, refuse }) => {
    const path = `${pathOf(operation, items)}?access_token=${await api.token(api.admin)}`;
    expect(await refuse(write, { path })).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
    for (const Authorization of ['Bearer x', 'Bearer eyJhbGciOiJub25lIn0.e30.', 'Bearer', 'DPoP a.b.c'])
      expect((await refuse(write, { headers: { Authorization } })).body.code).toMatch(
        /^(invalid_token|invalid_dpop_proof|malformed_request)$/,
      );
  });

  test('refuses contradictory headers', async ({ api, items }) => {
    const content = body === undefined ? '' : JSON.stringify(body);
    const good = [
      `${operation.method} ${pathOf(operation, items)} HTTP/1.1`,
      'Host: annals.test',
      `Authorization: Bearer ${await api.token(api.admin)}`,
      `Content-Length: ${Buffer.byteLength(content)}`,
      ...(type === '' ? [] : [`Content-Type: ${type}`]),
      'Connection: close',
    ];
    const before = await api.side.eventLog.head();
    for (const header of ['X-Request-Id', 'Idempotency-Key', 'If-Match', 'Accept']) {
      const answer = await sendRaw(api.url, [...good, `${header}: evil\rSet-Cookie: a=b`], content);
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*application\/problem\+json.*"code":"malformed_request"/s);
      expect(answer).not.toMatch(/^set-cookie:/im);
    }
    expect(await api.side.eventLog.head()).toBe(before);
  });

  test('replaces an unsafe request id', async ({ refuse }) => {
    const answer = await refuse(write, { headers: { 'X-Request-Id': 'a"b<script>', Accept: 'text/html' } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});
