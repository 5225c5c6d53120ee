import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import {
  test as base,
  GOOD_WRITES,
  type GoodWrite,
  pathOf,
  WRITE_OF_EACH_KIND,
} from '../../test/engines/write-operations.ts';

const BODY_BYTES_MAX = 20_000;
const test = base.extend('writeOptions', { scope: 'file' }, { bodyBytesMax: BODY_BYTES_MAX });

const hasBody = ({ body }: GoodWrite): boolean => body !== undefined;
const WITH_BODY = GOOD_WRITES.filter(hasBody);

const text = (write: GoodWrite): string => JSON.stringify(write.body);
const withFirst = (write: GoodWrite, member: string): string => `{${member},${text(write).slice(1)}`;
const gzip = (content: string) => gzipSync(content);
const BOMB = gzip('0'.repeat(50_000_000));
const BROTLI_BOMB = brotliCompressSync('0'.repeat(1_000_000));

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
  ['with __proto__', (write) => withFirst(write, '"__proto__":{"role":"admin"}'), invalid],
  ['with __proto__ in depth', () => '{"tags":[{"__proto__":1}]}', invalid],
  ['with constructor', (write) => withFirst(write, '"constructor":{"prototype":{}}'), invalid],
  ['with prototype', (write) => withFirst(write, '"prototype":{}'), invalid],
  ['that is deep', () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`, tooLarge],
  ['that is large', (write) => withFirst(write, `"x":"${'x'.repeat(BODY_BYTES_MAX)}"`), tooLarge],
  ['that is a bomb', () => BOMB, encoded('gzip', tooLarge)],
  ['that is a bomb by Brotli', () => BROTLI_BOMB, encoded('br', tooLarge)],
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

describe.for(WRITE_OF_EACH_KIND.filter(hasBody))('$name refuses a body', (write) => {
  test.for(CASES)('%s', async ([_, body, { status, code, headers = {} }], { refuse }) => {
    const answer = await refuse(write, { body: body(write), headers });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    if (status === 415 && headers['Content-Encoding'] === undefined)
      expect(answer.headers.get(write.operation.method === 'PATCH' ? 'accept-patch' : 'accept')).toContain(
        'application/json',
      );
    if (code === 'invalid_request')
      expect(answer.body.errors).toContainEqual({ pointer: expect.any(String), detail: expect.any(String) });
  });

  test('without a media type', async ({ refuse }) => {
    const answer = await refuse(write, { body: Buffer.from(text(write)), headers: { 'Content-Type': '' } });
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
  });

  test('that is missing', async ({ refuse }) => {
    const answer = await refuse(write, { body: undefined });
    expect(answer).toMatchObject({
      body: { code: expect.stringMatching(/^(malformed_body|unsupported_media_type)$/) },
    });
  });
});

test.for(WITH_BODY)('$name refuses an unknown field, and too many values', async (write, { refuse }) => {
  for (const field of ['isAdmin', 'userId', 'type'])
    expect(await refuse(write, { body: { ...write.body, [field]: 1 } })).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', errors: [{ pointer: `/${field}` }] },
    });
  expect(await refuse(write, { body: Array(10_000).fill(0) })).toMatchObject({ body: tooLarge });
});

/** An edit of another media type has the same schema. */
const FIELDS = new Map(
  WITH_BODY.flatMap((write) =>
    Object.entries(write.body ?? {}).map(([field, good]) => [
      `${write.operation.method} ${write.operation.path} ${field}`,
      { write, field, good },
    ]),
  ),
).values();

test.for([...FIELDS])(
  '$write.name refuses a wrong type or shape for $field',
  async ({ write, field, good }, { refuse }) => {
    const isObject = typeof good === 'object' && !Array.isArray(good) && good !== null;
    const wrong = [
      ...[7.5, [[]], { $ne: null }, '\u0000', '\ud800'],
      ...(isObject ? [] : [{}]),
      ...(field === 'body' ? [] : ['x'.repeat(15_000)]),
      typeof good === 'boolean' ? 'true' : true,
    ];
    for (const value of wrong) {
      const answer = await refuse(write, { body: { ...write.body, [field]: value } });
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
  },
);

test('unknown fields are named, up to a limit', async ({ refuse }) => {
  const [write] = WITH_BODY as [GoodWrite];
  const answer = await refuse(write, { body: { ...write.body, 'a/b~c': 1 } });
  expect(answer.body.errors).toEqual([{ pointer: '/a~1b~0c', detail: 'There is no such field.' }]);
  const flood = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`field${at}`, 1]));
  expect((await refuse(write, { body: flood })).body.errors).toHaveLength(50);
});

test('afterwards the same requests succeed', async ({ api, items }) => {
  for (const { operation, body, type } of WITH_BODY) {
    const sent = { body, headers: { 'Content-Type': type }, by: api.admin };
    const { status } = await api.send(operation.method, pathOf(operation, items), sent);
    expect([operation.summary, status]).toEqual([operation.summary, operation.answer.status]);
  }
});
