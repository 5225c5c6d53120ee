// Over 200 lines, because it is one list: how receivers behave, and what a delivery reports about each.
import type { Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parseRange } from '#shared/webhooks/guard/address.ts';
import type { GuardRules } from '#shared/webhooks/guard/check-url.ts';
import { AUTHORITY, SERVER } from '../../test/engines/certificates.ts';
import { openRawServer } from '../../test/engines/raw-server.ts';
import { until } from '../../testing/until.ts';
import { openPoster, type PostRequest } from './post.ts';

const rulesOf = (...allowed: readonly string[]): GuardRules => ({
  allowed: allowed.flatMap((text) => parseRange(text) ?? []),
  ports: 'any',
});
const LOOPBACK = rulesOf('127.0.0.0/8', '::1');
const PATIENT_MS = 10_000;

const open = (options: Partial<Parameters<typeof openPoster>[0]> = {}) =>
  openPoster({ rules: LOOPBACK, timeoutMs: PATIENT_MS, ...options });

const forever = new AbortController().signal;
const to = (url: string, request: Partial<PostRequest> = {}): PostRequest => ({
  url,
  headers: {},
  body: Buffer.from('{}'),
  ...request,
});

const ROUNDS_MAX = 50;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK';

test('a request is sent unchanged, and its response returned', async () => {
  await using receiver = await openRawServer((socket) =>
    socket.write(
      'HTTP/1.1 201 Created\r\nx-seen: yes\r\nset-cookie: a\r\nset-cookie: b\r\ncontent-length: 5\r\n\r\nfine!',
    ),
  );
  await using poster = open();
  const request = to(`${receiver.url}/hooks/a%20b?c=d#e`, {
    headers: { 'webhook-id': 'x' },
    body: Buffer.from('{"é":1}'),
  });
  const answer = await poster.post(request, forever);
  expect(answer).toMatchObject({
    status: 201,
    error: null,
    headers: { 'x-seen': 'yes', 'set-cookie': 'a, b' },
  });
  expect(Buffer.from(answer.body ?? []).toString()).toBe('fine!');
  const [head, body] = receiver.requests[0]?.split('\r\n\r\n') ?? [];
  expect(head).toMatch(/^POST \/hooks\/a%20b\?c=d HTTP\/1\.1\r\n/);
  expect(head?.split('\r\n').slice(1).toSorted()).toEqual([
    'connection: keep-alive',
    'content-length: 8',
    `host: 127.0.0.1:${receiver.port}`,
    'webhook-id: x',
  ]);
  expect(Buffer.from(body ?? '', 'latin1').toString()).toBe('{"é":1}');
});

test('connections are reused', async () => {
  await using receiver = await openRawServer((socket) => socket.write(OK));
  await using poster = open();
  for (let round = 0; round < 10; round += 1)
    await Promise.all([1, 2, 3].map(() => poster.post(to(receiver.url), forever)));
  expect(receiver.requests.length).toBe(30);
  // A connection is not free again at the moment its response is read.
  expect(receiver.connections()).toBeLessThanOrEqual(6);
});

/** Answers the first request on each connection, and the others as given. */
const openClosing = (then: (socket: Socket) => unknown) => {
  const used = new Set<Socket>();
  return openRawServer((socket) => {
    if (used.has(socket)) return then(socket);
    used.add(socket);
    return socket.write(OK);
  });
};

test('a request that meets a closing connection is sent again, on another one', async () => {
  await using receiver = await openClosing((socket) => socket.end());
  await using poster = open();
  for (let round = 0; round < 5; round += 1)
    for (const answer of await Promise.all([1, 2].map(() => poster.post(to(receiver.url), forever))))
      expect(answer).toMatchObject({ status: 200, error: null });
  expect(receiver.requests.length).toBeGreaterThan(10);
});

test.each([
  ['a part of an answer', (socket: Socket) => socket.end('HTTP/1.1 2')],
  ['only an interim answer', (socket: Socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n')],
])('a request that gets %s is not sent again', async (_, then) => {
  await using receiver = await openClosing(then);
  await using poster = open();
  let posted = 0;
  let status: number | null = 200;
  for (; posted < ROUNDS_MAX && status !== null; posted += 1)
    status = (await poster.post(to(receiver.url), forever)).status;
  expect(status).toBeNull();
  expect(receiver.requests).toHaveLength(posted);
});

test('a receiver that closes every connection gets one request', async () => {
  await using receiver = await openRawServer((socket) => socket.end());
  await using poster = open();
  const { error } = await poster.post(to(receiver.url), forever);
  expect(error).toBe('The connection was closed before a response arrived.');
  expect(receiver.requests).toHaveLength(1);
});

test('a redirect is a response, and is not followed', async () => {
  await using elsewhere = await openRawServer((socket) => socket.write(OK));
  await using receiver = await openRawServer((socket) =>
    socket.write(`HTTP/1.1 307 Temporary\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`),
  );
  await using poster = open();
  expect(await poster.post(to(receiver.url), forever)).toMatchObject({ status: 307, error: null });
  expect(elsewhere.connections()).toBe(0);
});

test('proxies from the environment are not used', async () => {
  await using proxy = await openRawServer((socket) => socket.write(OK));
  await using receiver = await openRawServer((socket) => socket.write(OK));
  const before = { ...process.env };
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) process.env[name] = proxy.url;
  process.env.NODE_USE_ENV_PROXY = '1';
  try {
    await using poster = open();
    expect(await poster.post(to(receiver.url), forever)).toMatchObject({ status: 200 });
    expect(proxy.connections()).toBe(0);
  } finally {
    process.env = before;
  }
});

test('a compressed response stays compressed, however large its content', async () => {
  const bomb = gzipSync(Buffer.alloc(50 * 1_048_576));
  await using receiver = await openRawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  });
  await using poster = open();
  const { body, headers } = await poster.post(to(receiver.url), forever);
  expect(headers['content-encoding']).toBe('gzip');
  expect(Buffer.from(body ?? [])).toEqual(bomb.subarray(0, 16_385));
});

test('a response of 64 KiB leaves the connection reusable', async () => {
  await using receiver = await openRawServer((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 65536\r\n\r\n${'x'.repeat(65_536)}`),
  );
  await using poster = open();
  for (let time = 0; time < 10; time += 1)
    expect((await poster.post(to(receiver.url), forever)).body?.length).toBe(16_385);
  expect(receiver.connections()).toBeLessThanOrEqual(2);
});

test('nobody listens', async () => {
  const { port } = await openRawServer(() => {}).then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server;
  });
  await using poster = open();
  expect(await poster.post(to(`http://127.0.0.1:${port}`), forever)).toMatchObject({
    status: null,
    error: 'The connection was refused.',
  });
});

test('headers that cannot be sent are named as the reason', async () => {
  await using poster = open();
  const answer = await poster.post(to('http://127.0.0.1:9', { headers: { 'x-y': 'a\r\nb: c' } }), forever);
  expect(answer).toMatchObject({ status: null, error: 'The request cannot be sent with these headers.' });
});

test('stopping the process is no response of the receiver', async () => {
  await using receiver = await openRawServer(() => {});
  await using poster = open();
  const stopping = new AbortController();
  const posted = poster.post(to(receiver.url), stopping.signal);
  await until(
    () => receiver.requests.length,
    (count) => count === 1,
  );
  stopping.abort(new Error('stopping'));
  await expect(posted).rejects.toThrow('stopping');
  await expect(poster.post(to(receiver.url), stopping.signal)).rejects.toThrow('stopping');
});

test('TLS checks the issuer and the name of the certificate', async () => {
  await using receiver = await openRawServer((socket) => socket.write(OK), { tls: SERVER });
  await using poster = open();
  const byName = receiver.url.replace('127.0.0.1', 'localhost');
  expect(await poster.post(to(byName), forever)).toMatchObject({
    status: null,
    error: expect.stringMatching('not signed by a known authority'),
  });
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, AUTHORITY]);
  try {
    await using trusting = open();
    expect(await trusting.post(to(byName), forever)).toMatchObject({ status: 200, error: null });
    const otherName = receiver.url.replace('127.0.0.1', 'other.localhost');
    await using other = open({ resolveName: async () => [{ address: '127.0.0.1', family: 4 }] });
    expect(await other.post(to(otherName), forever)).toMatchObject({
      status: null,
      error: 'The certificate of the host is for another name.',
    });
  } finally {
    setDefaultCACertificates(before);
  }
});
