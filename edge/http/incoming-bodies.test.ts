import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Router } from 'express';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Rejection } from '#kernel/base/rejection.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { serve } from '../../test/serve.ts';
import { scaled } from '../../testing/load.ts';
import { createApp } from './app.ts';
import { demandBodyRate } from './body-time.ts';
import { readJsonBody } from './json-body.ts';

const app = (): RequestListener =>
  createApp({
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    routes: [
      Router()
        .use((request, _response, next) => {
          if (request.get('Authorization') === undefined) throw new Rejection('unauthenticated');
          next();
        })
        .post('/echo', ...readJsonBody(100), (request, response) => void response.json(request.body)),
    ],
  });

const begin = (url: string, headers: readonly string[]): Socket => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(
    ['POST /echo HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...headers, '', ''].join('\r\n'),
  );
  return socket;
};
const firstOf = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0]);

test('a body with too large a Content-Length is refused before it arrives', async () => {
  await using server = await serve(app());
  const socket = begin(server.url, ['Authorization: x', 'Content-Length: 1000000']);
  expect(await firstOf(socket)).toMatch(/^HTTP\/1\.1 413 .*"code":"body_too_large"/s);
  socket.destroy();
});

test('an unsupported coding is refused with the supported ones', async () => {
  await using server = await serve(app());
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'zstd', Authorization: 'x' };
  const response = await fetch(`${server.url}/echo`, { method: 'POST', body: '{}', headers });
  expect(response.headers.get('accept-encoding')).toBe('gzip, deflate, br');
  expect(await response.json()).toMatchObject({
    status: 415,
    detail: expect.stringContaining('Content-Encoding'),
  });
});

test('Expect: 100-continue is answered only once a body is wanted', async () => {
  await using server = await serve(app());
  const asking = ['Expect: 100-continue', 'Content-Length: 2', 'Connection: close'];
  const refused = begin(server.url, asking);
  expect(await text(refused)).toMatch(/^HTTP\/1\.1 401 /);
  const tooLarge = begin(server.url, ['Authorization: x', 'Expect: 100-continue', 'Content-Length: 101']);
  expect(await text(tooLarge)).toMatch(/^HTTP\/1\.1 413 .*connection: close/is);
  const wanted = begin(server.url, ['Authorization: x', ...asking]);
  expect(await firstOf(wanted)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  wanted.write('[]');
  expect(await text(wanted)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\[\]$/);
});

test('another expectation is ignored', async () => {
  await using server = await serve(app());
  const socket = begin(server.url, [
    'Authorization: x',
    'Expect: the-unexpected',
    'Content-Length: 2',
    'Connection: close',
  ]);
  socket.write('[]');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\[\]$/);
});

/** Sends `bytesAtOnce` bytes every 20 ms until all are sent or the server has answered. */
const trickle = async (socket: Socket, bytes: number, bytesAtOnce: number): Promise<string> => {
  let sent = 0;
  const timer = setInterval(() => {
    sent += bytesAtOnce;
    if (sent > bytes) clearInterval(timer);
    else socket.write('x'.repeat(bytesAtOnce));
  }, 20);
  return text(socket).finally(() => clearInterval(timer));
};

test('a route may accept a slow body as long as it keeps a minimum rate', async () => {
  const patient: RequestListener = async (request, response) => {
    demandBodyRate(request, 1_000);
    // A request that was cut off gets no response.
    const read = await text(request).catch(() => '');
    response.end(String(read.length));
  };
  await using server = await serve(patient, {
    limits: { headersTimeoutMs: scaled(100), requestTimeoutMs: scaled(200) },
  });
  const headers = ['Content-Length: 4000', 'Connection: close'];
  expect(await trickle(begin(server.url, headers), 4_000, 100)).toMatch(/^HTTP\/1\.1 200 [\s\S]*4000$/);
  expect(await trickle(begin(server.url, headers), 4_000, 5)).toMatch(/^HTTP\/1\.1 408 /);
  expect(await trickle(begin(server.url, headers), 1_000, 100)).toMatch(/^HTTP\/1\.1 408 /);
});

test('an unreadable request is refused in the same form as any other', async () => {
  await using server = await serve(app());
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write('HELLO\r\n\r\n');
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const { requestId, ...problem } = JSON.parse(body) as Record<string, unknown>;
  expect(head).toContain(`X-Request-Id: ${requestId}`);
  expect(problem).toEqual({
    type: 'urn:annals:problem:malformed_request',
    title: 'The request is malformed.',
    status: 400,
    code: 'malformed_request',
    detail: 'This is not a well-formed HTTP request.',
  });
});
