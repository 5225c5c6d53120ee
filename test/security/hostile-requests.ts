import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Ask } from '../../testing/http/rest-client.ts';

/** Refused with this status, before most of it is read. */
type Hostile = readonly [name: string, method: string, path: string, ask: Ask, status: number];

const MEGABYTES = 20;
const zeros = Buffer.alloc(MEGABYTES * 1_048_576, 0x20);
const json = Buffer.concat([Buffer.from('{"query":"'), zeros, Buffer.from('"}')]);
const form = Buffer.concat([Buffer.from('email='), zeros]);
const FORM = 'application/x-www-form-urlencoded';

const CODINGS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  'gzip, gzip': (content: Buffer) => gzipSync(compressed('gzip', content)),
} as const;
type Coding = keyof typeof CODINGS;

/** There are few contents, and compressing one takes longer than everything else. */
const made = new Map<string, Uint8Array>();
const compressed = (coding: Coding, content: Buffer): Uint8Array => {
  const key = `${coding} ${content.length}`;
  const known = made.get(key) ?? CODINGS[coding](content);
  made.set(key, known);
  return known;
};

type Target = {
  readonly method?: string;
  readonly path: string;
  readonly type: string;
  readonly content: Buffer;
  readonly headers?: Ask['headers'];
};

/** Small compressed, and very large decompressed. */
const bombs = (
  { method = 'POST', path, type, content, headers }: Target,
  statuses: Partial<Record<Coding, number>>,
): readonly Hostile[] =>
  (Object.entries(statuses) as [Coding, number][]).map(([coding, status]) => [
    `a bomb by ${coding}`,
    method,
    path,
    { type, body: compressed(coding, content), headers: { ...headers, 'content-encoding': coding } },
    status,
  ]);

type Sent = readonly [name: string, ask: Ask, status: number];
const to = (path: string, ...all: readonly Sent[]): readonly Hostile[] =>
  all.map(([name, ask, status]) => [name, 'POST', path, ask, status]);

/** Of all roles that read JSON. */
const JSON_PATHS = ['/graphql', '/articles', '/webhooks/1/replay', '/clients', '/register'];
const JSON_REQUESTS: readonly Sent[] = [
  ['a name twice', { body: '{"query":"{me{id}}","query":"{__typename}"}' }, 400],
  ['a name twice, once escaped', { body: '{"name":1,"n\\u0061me":2}' }, 400],
  ['__proto__', { body: '{"__proto__":{"role":"admin"}}' }, 422],
  ['__proto__ in depth', { body: '{"a":[{"__proto__":{"role":"admin"}}]}' }, 422],
  ['depth', { body: `${'['.repeat(5_000)}${']'.repeat(5_000)}` }, 413],
  ['JSON that says that it is a text', { type: 'text/plain', body: '{}' }, 415],
  ['JSON that says that it is a form', { type: FORM, body: '{}' }, 415],
];

const FORM_PATHS = ['/token', '/introspect', '/revoke', '/device_authorization', '/par'];
const FORM_REQUESTS: readonly Sent[] = [
  ['a form that is too large', { type: FORM, body: `a=${'x'.repeat(300_000)}` }, 400],
  ['a form that says that it is a text', { type: 'text/plain', body: 'grant_type=client_credentials' }, 400],
  ['a form that says that it is JSON', { body: '{"grant_type":"client_credentials"}' }, 400],
];

export const HOSTILE: readonly Hostile[] = [
  ...JSON_PATHS.flatMap((path) => [
    ...bombs(
      { path, type: 'application/json', content: json },
      { gzip: 413, deflate: 413, br: 413, 'gzip, gzip': 415 },
    ),
    ...to(path, ...JSON_REQUESTS),
  ]),
  ...FORM_PATHS.flatMap((path) => [
    // Bombs are streamed, and have no client in them.
    ...bombs({ path, type: FORM, content: form }, { gzip: 401, 'gzip, gzip': 401 }),
    ...to(path, ...FORM_REQUESTS),
  ]),
  ...['/sign-in/x', '/sign-up'].flatMap((path) =>
    bombs({ path, type: FORM, content: form }, { gzip: 413, br: 413, 'gzip, gzip': 415 }),
  ),
  ...bombs({ method: 'PUT', path: '/articles/1/cover', type: 'image/png', content: zeros }, { gzip: 415 }),
  ...bombs(
    {
      path: '/graphql',
      type: 'multipart/form-data; boundary=x',
      content: zeros,
      headers: { 'graphql-require-preflight': '1' },
    },
    { gzip: 400 },
  ),
];

const EVIL = '%0d%0aX-Evil:%20yes%0d%0a%0d%0a<script>';

/** Requests whose content is in a header of the answer. */
export const SPLITTING: readonly string[] = [
  `/articles?limit=1&q=${EVIL}`,
  `/articles?limit=1&tag=${EVIL}`,
  `/articles/${EVIL}`,
  `/events?limit=1&subject=${EVIL}`,
  `/clients?limit=1&after=${EVIL}`,
  `/uploads/${EVIL}.png`,
  `/graphql?query=${EVIL}`,
  `/${EVIL}`,
  `/authorize?client_id=journal-app&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&code_challenge=x&state=${EVIL}`,
  `/authorize?client_id=journal-app&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback${EVIL}&code_challenge=x`,
  `/sign-out?post_logout_redirect_uri=${EVIL}&state=${EVIL}`,
  `/device?user_code=${EVIL}`,
];

/** Different readers disagree about where such a request ends. */
export const SMUGGLED: readonly (readonly [name: string, lines: readonly string[], body: string])[] = [
  [
    'a length beside chunks',
    ['Content-Length: 4', 'Transfer-Encoding: chunked'],
    '0\r\n\r\nGET /x HTTP/1.1\r\n\r\n',
  ],
  ['two lengths', ['Content-Length: 4', 'Content-Length: 5'], 'abcde'],
  ['a length that is none', ['Content-Length: +4'], 'abcd'],
  ['chunks that are not the last coding', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
  ['another coding', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
  ['a space before the colon', ['Content-Length : 4'], 'abcd'],
  ['a bare carriage return', ['X-One: a\rX-Evil: yes'], ''],
  ['a zero byte', ['X-One: a\0b'], ''],
  ['two hosts', ['Host: other'], ''],
];
