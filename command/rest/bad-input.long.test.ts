import { once } from 'node:events';
import { connect } from 'node:net';
import { text as read } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  GOOD_WRITES,
  type GoodWrite,
  type Items,
  makeItems,
  pathOf,
  WRITES_EXPECTED,
} from '../../test/engines/write-operations.ts';
import { createWriteWorld, type WriteAnswer, type WriteWorld } from '../../test/engines/write-world.ts';

let world: WriteWorld;
let items: Items;
beforeAll(async () => {
  world = await createWriteWorld();
  items = await makeItems(world);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const refuse = async (
  { operation, type, body }: GoodWrite,
  { path = pathOf(operation, items), headers = {} }: { path?: string; headers?: Record<string, string> },
): Promise<WriteAnswer> => {
  const before = await world.side.eventLog.head();
  const sent = {
    body,
    headers: { ...(type !== '' && { 'Content-Type': type }), ...headers },
    by: world.admin,
  };
  const answer = await world.send(operation.method, path, sent);
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(answer.body).toMatchObject({
    status: answer.status,
    requestId: answer.headers.get('x-request-id'),
    title: expect.any(String),
  });
  expect(await world.side.eventLog.head()).toBe(before);
  return answer;
};

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
const STALE = ['"1-a"', 'W/"999-a"', '"abc"', '""'].map(
  (ifMatch) => [ifMatch, 412, 'version_mismatch'] as const,
);
const MALFORMED = ['abc', '"a', '1', '"1-a", 2'].map(
  (ifMatch) => [ifMatch, 400, 'malformed_request'] as const,
);

test('the table contains every write', () => {
  expect(new Set(GOOD_WRITES.map(({ operation }) => operation)).size).toBe(WRITES_EXPECTED);
});

describe.each(GOOD_WRITES)('$name', (write) => {
  const { operation } = write;
  const isOnItem = operation.path.includes('{');

  test.each(isOnItem ? GARBAGE_IDS : [])('does not find the id %s', async (garbage) => {
    const path = pathOf(operation, {
      userId: garbage,
      articleId: garbage,
      commentId: garbage,
      webhookId: garbage,
    });
    const answer = await refuse(write, { path });
    expect(answer).toMatchObject({
      status: 404,
      body: { code: expect.stringMatching(/^(user|article|comment|webhook)_not_found$/) },
    });
    expect(answer.headers.get('set-cookie')).toBeNull();
    // Like for a missing item.
    const absent = await refuse(write, {
      path: pathOf(operation, { userId: 5, articleId: 5, commentId: 5, webhookId: 5 }),
    });
    expect({ ...answer.body, requestId: 0 }).toEqual({ ...absent.body, requestId: 0 });
  });

  test.each(isOnItem ? ['%ff', '%2'] : [])('refuses the path %s, which is no UTF-8', async (id) => {
    const path = pathOf(operation, { userId: id, articleId: id, commentId: id, webhookId: id });
    expect(await refuse(write, { path })).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
  });

  test.each(ACCEPTS)('refuses Accept: %s', async (Accept) => {
    expect(await refuse(write, { headers: { Accept } })).toMatchObject({
      status: 406,
      body: { code: 'not_acceptable' },
    });
  });

  test.each(operation.answer.status === 201 ? [] : [...STALE, ...MALFORMED])(
    'refuses If-Match: %s by %d',
    async (ifMatch, status, code) => {
      expect(await refuse(write, { headers: { 'If-Match': ifMatch } })).toMatchObject({
        status,
        body: { code },
      });
    },
  );

  test.each(['a b', '', 'é', 'x'.repeat(256)])('refuses the key %.9s', async (key) => {
    expect(await refuse(write, { headers: { 'Idempotency-Key': key } })).toMatchObject({
      status: 400,
      body: { code: 'malformed_request' },
    });
  });

  test('refuses query parameters', async () => {
    const path = `${pathOf(operation, items)}?publish=true&a%5Bb%5D=1&__proto__=x`;
    const answer = await refuse(write, { path });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } });
    expect(answer.body.errors).toContainEqual({
      parameter: 'publish',
      detail: 'There is no such parameter.',
    });
  });

  test('refuses a token in the query, and a forged one', async () => {
    const path = `${pathOf(operation, items)}?access_token=${await world.token(world.admin)}`;
    expect(await refuse(write, { path })).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
    for (const Authorization of ['Bearer x', 'Bearer eyJhbGciOiJub25lIn0.e30.', 'Bearer', 'DPoP a.b.c'])
      expect((await refuse(write, { headers: { Authorization } })).body.code).toMatch(
        /^(invalid_token|invalid_dpop_proof|malformed_request)$/,
      );
  });

  test('refuses contradictory headers', async () => {
    const evil = 'evil\r\nSet-Cookie: a=b';
    for (const header of ['X-Request-Id', 'Idempotency-Key', 'If-Match', 'Accept']) {
      const before = await world.side.eventLog.head();
      const answer = await raw(write, `${header}: ${evil.replace('\r\n', '\r')}`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 .*application\/problem\+json.*"code":"malformed_request"/s);
      expect(answer).not.toMatch(/^set-cookie:/im);
      expect(await world.side.eventLog.head()).toBe(before);
    }
  });

  test('replaces an unsafe request id', async () => {
    const answer = await refuse(write, { headers: { 'X-Request-Id': 'a"b<script>', Accept: 'text/html' } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

/** `fetch` would refuse to send it. */
const raw = async ({ operation, body, type }: GoodWrite, header: string): Promise<string> => {
  const { hostname, port } = new URL(world.url);
  const content = body === undefined ? '' : JSON.stringify(body);
  const head = [
    `${operation.method} ${pathOf(operation, items)} HTTP/1.1`,
    'Host: annals.test',
    `Authorization: Bearer ${await world.token(world.admin)}`,
    `Content-Length: ${Buffer.byteLength(content)}`,
    ...(type === '' ? [] : [`Content-Type: ${type}`]),
    header,
    'Connection: close',
  ];
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.end(`${head.join('\r\n')}\r\n\r\n${content}`);
  return read(socket);
};
