import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Router } from 'express';
import { expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { until } from '../../testing/until.ts';
import { createApp } from './app.ts';
import { readJsonBody } from './json-body.ts';
import { demandRoom, type LoadLimits, openLoadShedder } from './shed-load.ts';

/** More than the buffers between a server and a client hold. */
const LARGE = 'x'.repeat(20 * 1_048_576);

const start = async (limits: Partial<LoadLimits>) => {
  const metrics = createMetrics();
  const shedder = openLoadShedder({ ...loadConfig({}).load, ...limits }, metrics);
  const routes = Router()
    .post('/echo', ...readJsonBody(1_000_000), (request, response) => void response.json(request.body))
    .get('/large', (request, response) => {
      demandRoom(request, LARGE.length);
      response.send(LARGE);
    })
    .get('/quick', (_request, response) => void response.json({}));
  const server = await serve(
    createApp({ log: captureLog().log, metrics, routes: [Router().use(shedder.handler), routes] }),
  );
  const sum = async (name: string) =>
    ((await metrics.getSingleMetric(name)?.get())?.values ?? []).reduce((all, { value }) => all + value, 0);
  const sockets: Socket[] = [];
  return {
    statusOf: async (path: string) => (await fetch(server.url + path)).status,
    open(lines: readonly string[]): Socket {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      socket.write(`${[...lines, 'Host: x', '', ''].join('\r\n')}`);
      return socket;
    },
    sum,
    inFlight: (count: number) =>
      until(
        () => sum('annals_http_requests_in_flight'),
        (found) => found === count,
      ),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      shedder[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
};

const BODY = ['POST /echo HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 100'];

test('a client that sends its body slowly loses its place, and is told to retry', async () => {
  await using app = await start({ requestsMax: 2 });
  const [first, second] = [app.open(BODY), app.open(BODY)];
  const [told, kept] = [text(first), text(second)];
  await app.inFlight(2);
  // At first it may only be under way.
  expect(await app.statusOf('/quick')).toBe(503);
  await until(
    () => app.statusOf('/quick'),
    (status) => status === 200,
  );
  expect(await Promise.race([told, kept])).toMatch(
    /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*"code":"overloaded"/,
  );
  expect(await app.sum('annals_http_slow_clients_cut_total')).toBe(1);
});

test('a client that does not receive its response loses its place', async () => {
  await using app = await start({ requestsMax: 1 });
  app.open(['GET /large HTTP/1.1']).pause();
  await app.inFlight(1);
  await until(
    () => app.statusOf('/quick'),
    (status) => status === 200,
  );
});

test('a large response is refused while too much is unread by other clients that are not slow yet', async () => {
  await using app = await start({ clientBytesMax: LARGE.length });
  app.open(['GET /large HTTP/1.1']).pause();
  await app.inFlight(1);
  expect([await app.statusOf('/large'), await app.statusOf('/quick')]).toEqual([503, 200]);
  // The other client has become slow.
  await until(
    () => app.statusOf('/large'),
    (status) => status === 200,
  );
});

test('a response that makes no progress is cut off', async () => {
  await using app = await start({ stalledMaxMs: 200 });
  app.open(['GET /large HTTP/1.1']).pause();
  await app.inFlight(1);
  await app.inFlight(0);
});

test('a body without a length is refused once it is too long, while it still arrives', async () => {
  await using app = await start({});
  const socket = app.open([
    'POST /echo HTTP/1.1',
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ]);
  socket.write(`100000\r\n${' '.repeat(0x100000)}\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"body_too_large"/);
});
