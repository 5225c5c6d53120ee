// Over 200 lines, because every case has a socket that is set up here.
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import { test as base, describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { createApp } from '#edge/http/app.ts';
import { exchangeOf } from '#edge/http/exchange.ts';
import { startHttpServer } from '#edge/http/server.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { captureLog } from '../../../test/serve.ts';
import { until } from '../../../testing/until.ts';
import { EXAMPLE_LOG } from '../../event-types/event-types.ts';
import { openEventStreams } from '../../sse/event-streams.ts';
import { answerGraphqlErrors } from '../http/refusal.ts';
import { openSockets } from './sockets.ts';

const PROTOCOL = 'graphql-transport-ws';
const PER_OWNER_MAX = 2;

/** Refuses a token with more words than a close frame has room for. */
const refuseToken: RequestHandler = (request, _response, next) =>
  next(
    request.headers.authorization === undefined
      ? undefined
      : new HttpProblem('malformed_request', { detail: 'é'.repeat(200) }),
  );

const test = base
  .extend('metrics', () => createMetrics())
  .extend('heartbeatMs', 100)
  .extend('served', async ({ metrics, heartbeatMs }, { onCleanup }) => {
    const opened = new AsyncDisposableStack();
    onCleanup(() => opened.disposeAsync());
    const [{ log, logged }, config] = [captureLog(), loadConfig({})];
    const drains: (() => void)[] = [];
    const streams = opened.use(
      openEventStreams({ heartbeatMs, perOwnerMax: PER_OWNER_MAX, bufferBytesMax: 1_048_576, metrics }),
    );
    const sockets = openSockets(
      {
        ...{ streams, access: { refusalNow: () => undefined }, clock: REAL_TIME, initWithinMs: 60_000 },
        health: { onDrain: (work) => void drains.push(work) },
        ...{ publicUrl: 'https://annals.example', corsOrigins: new Set<string>() },
        ...{ bufferBytesMax: 1_048_576, messageBytesMax: 10_000 },
      },
      {
        endpoint: async ({ parameters: { query } }) =>
          query === '{ never }'
            ? new Promise(() => {})
            : ['{"data":{"a":1}}', { status: 200, statusText: '' }],
        join: () => ({ [Symbol.dispose]: () => {} }),
        before: [],
        eventLog: { identity: EXAMPLE_LOG },
      },
    );
    const connections: Socket[] = [];
    const app = createApp({
      ...{ log, metrics },
      routes: [refuseToken, sockets.routes, answerGraphqlErrors(log, 1_000)],
    });
    const server = opened.use(
      await startHttpServer({
        ...{ handler: app, exchange: exchangeOf(app) },
        upgrades: (each) => {
          connections.push(each.socket);
          return sockets.upgrades(each);
        },
        ...{ listener: { port: 0, host: '127.0.0.1' }, setting: 'PORT', limits: config.limits },
        ...{ drainMs: 5_000, log, clock: REAL_TIME },
      }),
    );
    const drain = (): void => {
      for (const work of drains) work();
      streams.drain();
    };
    opened.defer(drain);
    return { url: server.url, logged, drain, connections };
  })
  .extend('connect', ({ served }) => async (options: object = {}, init: object = {}) => {
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/graphql`, PROTOCOL, options);
    await once(socket, 'open');
    const closed = once(socket, 'close') as Promise<[number, Buffer]>;
    socket.send(JSON.stringify({ type: 'connection_init', ...init }));
    const [answer] = (await Promise.race([once(socket, 'message'), closed])) as unknown[];
    return { socket, answer: String(answer), closed };
  });

test('when the process stops, connections close with 1001, and new ones are refused', async ({
  connect,
  served,
}) => {
  const { answer, closed } = await connect();
  expect(answer).toBe('{"type":"connection_ack"}');
  served.drain();
  expect((await closed)[0]).toBe(1001);
  const refused = new WebSocket(`${served.url.replace('http', 'ws')}/graphql`, PROTOCOL);
  const [error] = await once(refused, 'error');
  expect(String(error)).toContain('503');
});

test('connections count as streams of their owner', async ({ connect }) => {
  for (let count = 0; count < PER_OWNER_MAX; count += 1) expect((await connect()).answer).toContain('ack');
  const { answer } = await connect();
  expect(answer).toBe('4429');
});

test('a connection that answers no ping is closed, and one that does stays open', async ({ connect }) => {
  const [dead, alive] = await Promise.all([connect({ autoPong: false }), connect()]);
  expect((await dead.closed)[0]).toBe(1006);
  alive.socket.send('{"type":"ping"}');
  expect(String((await once(alive.socket, 'message'))[0])).toBe('{"type":"pong"}');
});

test('an operation is logged as a request, and the connection when it ends', async ({ connect, served }) => {
  const { socket, closed } = await connect();
  socket.send('{"id":"1","type":"subscribe","payload":{"query":"{ a }"}}');
  expect(String((await once(socket, 'message'))[0])).toBe(
    '{"id":"1","type":"next","payload":{"data":{"a":1}}}',
  );
  socket.close();
  await closed;
  const logged = await until(served.logged, (text) => text.includes('"status":101'));
  expect(logged).toMatch(/"method":"POST","path":"\/graphql","status":200/);
});

const HANDSHAKE = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-version': '13',
  'sec-websocket-protocol': PROTOCOL,
};

test.for<[string, Record<string, string>]>([
  ['without a key', { 'sec-websocket-key': '' }],
  ['with a short key', { 'sec-websocket-key': 'dGhl' }],
  ['of another version', { 'sec-websocket-version': '7' }],
  ['that names a subprotocol twice', { 'sec-websocket-protocol': `${PROTOCOL}, ${PROTOCOL}` }],
  ['with a malformed subprotocol', { 'sec-websocket-protocol': `${PROTOCOL}, a b` }],
  ['with an empty subprotocol', { 'sec-websocket-protocol': `${PROTOCOL},` }],
])('a handshake %s is refused, and logged as that', async ([, headers], { served }) => {
  const sent = request(`${served.url}/graphql`, { headers: { ...HANDSHAKE, ...headers } }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  expect(response.statusCode).toBe(400);
  const logged = await until(served.logged, (text) => text.includes('"status":400'));
  expect(logged).not.toContain('"status":101');
});

test('other requests with Upgrade are served as if they had none', async ({ served }) => {
  const sent = request(`${served.url}/nothing`, { headers: { connection: 'upgrade', upgrade: 'h2c' } }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  expect(response.statusCode).toBe(404);
});

test('a refusal with a long text closes the connection with its beginning', async ({ connect }) => {
  const { closed } = await connect({}, { payload: { authorization: 'Bearer refused' } });
  const [code, reason] = await closed;
  expect([code, String(reason)]).toEqual([4400, expect.stringMatching(/^malformed_request: é+$/)]);
  expect(reason.length).toBeLessThanOrEqual(123);
});

describe('between two heartbeats', () => {
  test.override('heartbeatMs', 60_000);
  /** More than the operating system keeps for a client. */
  const PINGS = 100_000;

  test('pings of a client that reads no pongs take no memory', async ({ connect, served }) => {
    const { socket } = await connect();
    const [connection] = served.connections;
    socket.pause();
    for (let count = 0; count < PINGS; count += 1) socket.ping('x'.repeat(125));
    let bytesMax = 0;
    await until(
      () => {
        bytesMax = Math.max(bytesMax, connection?.writableLength ?? 0);
        return socket.bufferedAmount;
      },
      (bytes) => bytes === 0,
    );
    expect(bytesMax).toBeLessThan(1_000_000);
    socket.resume();
    socket.ping('last');
    const pongs: string[] = [];
    socket.on('pong', (data) => pongs.push(String(data)));
    await until(
      () => pongs,
      (all) => all.includes('last'),
    );
  });
});

test('operations leave no listeners on their connection', async ({ connect, served }) => {
  const { socket } = await connect();
  const [connection] = served.connections;
  const listeners = () => connection?.eventNames().map((name) => [name, connection.listenerCount(name)]);
  const before = listeners();
  let completed = 0;
  socket.on('message', (data) => {
    if (String(data).includes('"complete"')) completed += 1;
  });
  for (let count = 0; count < 50; count += 1)
    socket.send(`{"id":"${count}","type":"subscribe","payload":{"query":"{ a }"}}`);
  await until(
    () => completed,
    (count) => count === 50,
  );
  expect(listeners()).toEqual(before);
});

test('operations beyond the maximum are refused, and a connection that goes on is closed', async ({
  connect,
}) => {
  const { socket, closed } = await connect();
  for (let count = 0; count < 1_200; count += 1)
    socket.send(`{"id":"${count}","type":"subscribe","payload":{"query":"{ never }"}}`);
  expect((await closed)[0]).toBe(4429);
});
