import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  GOOD_WRITES,
  type GoodWrite,
  type Items,
  makeItems,
  pathOf,
} from '../../test/engines/write-operations.ts';
import { createWriteWorld, type WriteAnswer, type WriteWorld } from '../../test/engines/write-world.ts';

const BODY_BYTES_MAX = 20_000;

let world: WriteWorld;
let items: Items;
beforeAll(async () => {
  world = await createWriteWorld({ bodyBytesMax: BODY_BYTES_MAX });
  items = await makeItems(world);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const WITH_BODY = GOOD_WRITES.filter(({ body }) => body !== undefined);

/** Sends it as a permitted caller, and checks that nothing happens. */
const refuse = async (
  { operation, type }: GoodWrite,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<WriteAnswer> => {
  const before = await world.side.eventLog.head();
  const answer = await world.send(operation.method, pathOf(operation, items), {
    body,
    headers: { 'Content-Type': type, ...headers },
    by: world.admin,
  });
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(answer.body).toMatchObject({
    status: answer.status,
    requestId: answer.headers.get('x-request-id'),
    title: expect.any(String),
  });
  expect(await world.side.eventLog.head()).toBe(before);
  return answer;
};

const text = (write: GoodWrite): string => JSON.stringify(write.body);
const withFirst = (write: GoodWrite, member: string): string => `{${member},${text(write).slice(1)}`;
const gzip = (content: string) => gzipSync(content);
const BOMB = gzip('0'.repeat(50_000_000));

type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly headers?: Readonly<Record<string, string>>;
};
type Case = [what: string, body: (write: GoodWrite) => string | Uint8Array, refusal: Refusal];
const malformed = { status: 400, code: 'malformed_body' };
const invalid = { status: 422, code: 'invalid_request' };
const tooLarge = { status: 413, code: 'body_too_large' };
const unsupported = { status: 415, code: 'unsupported_media_type' };
const encoded = (encoding: string, refusal: Refusal) => ({
  ...refusal,
  headers: { 'Content-Encoding': encoding },
});

const CASES: Case[] = [
  ['that stops short', (write) => text(write).slice(0, -1), malformed],
  ['with something after it', (write) => `${text(write)}}`, malformed],
  ['that is empty', () => '', malformed],
  ['that is no JSON', () => '<xml/>', malformed],
  ['with a comment', (write) => `/* x */${text(write)}`, malformed],
  ['with a bare line feed in a text', () => '{"name":"a\nb"}', malformed],
  ['that is not in UTF-8', () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), malformed],
  ['in UTF-16 without saying so', (write) => Buffer.from(text(write), 'utf16le'), malformed],
  ['with a name twice', (write) => withFirst(write, text(write).slice(1, -1)), malformed],
  ['with a name twice, once escaped', () => '{"x":1,"\\u0078":2}', malformed],
  ['with a name twice in depth', () => '{"a":[{"x":1,"x":1}]}', malformed],
  ['that is a text', () => '"text"', invalid],
  ['that is null', () => 'null', invalid],
  ['that is a list', () => '[]', invalid],
  ['with an unknown field', (write) => withFirst(write, '"isAdmin":true'), invalid],
  ['with the id of somebody', (write) => withFirst(write, '"userId":1'), invalid],
  ['with the type of a command', (write) => withFirst(write, '"type":"DeleteUser"'), invalid],
  ['with __proto__', (write) => withFirst(write, '"__proto__":{"role":"admin"}'), invalid],
  ['with __proto__ in depth', () => '{"tags":[{"__proto__":1}]}', invalid],
  ['with constructor', (write) => withFirst(write, '"constructor":{"prototype":{}}'), invalid],
  ['with prototype', (write) => withFirst(write, '"prototype":{}'), invalid],
  ['that is deep', () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`, tooLarge],
  ['of many values', () => `[${'0,'.repeat(9_999)}0]`, tooLarge],
  ['that is large', (write) => withFirst(write, `"x":"${'x'.repeat(BODY_BYTES_MAX)}"`), tooLarge],
  ['that is a bomb', () => BOMB, encoded('gzip', tooLarge)],
  ['that is a bomb by Brotli', () => brotliCompressSync('0'.repeat(1_000_000)), encoded('br', tooLarge)],
  ['that is no gzip', (write) => text(write), encoded('gzip', { status: 400, code: 'malformed_request' })],
  [
    'that is half a gzip',
    (write) => gzip(text(write)).subarray(0, 20),
    encoded('gzip', { status: 400, code: 'malformed_request' }),
  ],
  ['compressed twice', (write) => gzip(text(write)), encoded('gzip, gzip', unsupported)],
  ['encoded in an unknown way', (write) => text(write), encoded('compress', unsupported)],
  [
    'in another charset',
    (write) => text(write),
    { ...unsupported, headers: { 'Content-Type': 'application/json; charset=latin1' } },
  ],
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'json',
  ].map(
    (type): Case => [
      `of ${type}`,
      (write) => text(write),
      { ...unsupported, headers: { 'Content-Type': type } },
    ],
  ),
];

describe.each(WITH_BODY)('$name refuses a body', (write) => {
  test.each<Case>(CASES)('%s', async (_, body, { status, code, headers }) => {
    const answer = await refuse(write, body(write), headers);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    if (status === 415 && headers?.['Content-Encoding'] === undefined)
      expect(answer.headers.get(write.operation.method === 'PATCH' ? 'accept-patch' : 'accept')).toContain(
        'application/json',
      );
    if (code === 'invalid_request')
      expect(answer.body.errors).toContainEqual({ pointer: expect.any(String), detail: expect.any(String) });
  });

  const fields = Object.keys(write.body ?? {});
  test.each(fields)('with a wrong type or shape for %s', async (field) => {
    const isFlag = write.body?.[field] === true || write.body?.[field] === false;
    const isObject =
      typeof write.body?.[field] === 'object' &&
      !Array.isArray(write.body[field]) &&
      write.body[field] !== null;
    const wrong = [
      7.5,
      ...(isObject ? [] : [{}]),
      [[]],
      { $ne: null },
      'x'.repeat(15_000),
      '\u0000',
      '\ud800',
      ...(isFlag ? ['true'] : [true]),
    ];
    for (const value of field === 'body' ? wrong.filter((each) => !String(each).startsWith('xxx')) : wrong) {
      const answer = await refuse(write, { ...write.body, [field]: value });
      expect({ value, status: answer.status, code: answer.body.code }).toEqual({
        value,
        status: 422,
        code: 'invalid_request',
      });
      expect(answer.body.errors).toContainEqual({
        pointer: expect.stringMatching(new RegExp(`^/${field}`)),
        detail: expect.any(String),
      });
    }
  });

  test('without a media type', async () => {
    const answer = await refuse(write, Buffer.from(text(write)), { 'Content-Type': '' });
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test('that is empty', async () => {
    const answer = await refuse(write, undefined, { 'Content-Type': write.type });
    expect(answer).toMatchObject({
      body: { code: expect.stringMatching(/^(malformed_body|unsupported_media_type)$/) },
    });
  });
});

test('unknown fields are named, up to a limit', async () => {
  const [write] = WITH_BODY as [GoodWrite];
  const answer = await refuse(write, { ...write.body, 'a/b~c': 1 });
  expect(answer.body.errors).toEqual([{ pointer: '/a~1b~0c', detail: 'There is no such field.' }]);
  const flood = await refuse(
    write,
    Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`field${at}`, 1])),
  );
  expect(flood.body.errors).toHaveLength(50);
});

test('afterwards the same requests succeed', async () => {
  for (const { operation, body, type } of WITH_BODY) {
    const { status } = await world.send(operation.method, pathOf(operation, items), {
      body,
      headers: { 'Content-Type': type },
      by: world.admin,
    });
    expect({ operation: operation.summary, status }).toEqual({
      operation: operation.summary,
      status: operation.answer.status,
    });
  }
});
