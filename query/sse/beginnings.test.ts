import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { Router } from 'express';
import { pino } from 'pino';
import { test as base, expect } from 'vitest';
import { answerErrors } from '#edge/http/answer-errors.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { serveRoutes } from '../../test/serve.ts';
import { follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';
import { openEventStreams } from './event-streams.ts';

const test = base.extend('serve', ({ task: _ }, { onCleanup }) => {
  const resources = new AsyncDisposableStack();
  onCleanup(() => resources.disposeAsync());
  /** Streams at `/`, limited per owner, behind a router of the test. */
  return async (before: Router) => {
    const limits = { heartbeatMs: 60_000, perOwnerMax: 1, bufferBytesMax: 100_000 };
    const streams = openEventStreams({ ...limits, metrics: createMetrics() });
    let asked = 0;
    const routes = Router().get('/', (request, response) => {
      asked += 1;
      streams.open(request, response);
    });
    const errors = answerErrors(pino({ level: 'silent' }));
    const { url } = resources.use(await serveRoutes(before, routes, errors));
    resources.use(streams);
    return { url, asked: () => asked };
  };
});

test('a client that disconnects before its stream begins frees its slot', async ({ serve }) => {
  let isWaiting = false;
  const before = Router().get('/', async (request, response, next) => {
    if (request.query.slowly === undefined) return next();
    isWaiting = true;
    await once(response, 'close');
    next();
  });
  const { url, asked } = await serve(before);
  const leaving = get(`${url}/?slowly`).on('error', () => {});
  await until(() => isWaiting, Boolean);
  leaving.destroy();
  await until(asked, (count) => count === 1);
  await using next = await follow(url);
  expect(next.status).toBe(200);
});

test('a stream pipelined behind an unfinished response is refused, and that response stays intact', async ({
  serve,
}) => {
  const isAsked = Promise.withResolvers<void>();
  const before = Router().get('/answer', async (_request, response) => {
    await isAsked.promise;
    response.send('the whole answer');
  });
  const { url, asked } = await serve(before);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let text = '';
  socket.on('data', (part: string) => {
    text += part;
  });
  const requestOf = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n${more}\r\n`;
  socket.write(requestOf('/answer') + requestOf('/', 'Connection: close\r\n'));
  await until(asked, (count) => count === 1);
  isAsked.resolve();
  await once(socket, 'close');
  const [first = '', second = ''] = text.split(/(?=HTTP\/1.1 )/);
  expect(first).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\nthe whole answer$/);
  expect(second).toMatch(/^HTTP\/1.1 503 [\s\S]*wait for its end, or use another connection/);
});
