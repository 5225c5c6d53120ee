import { once } from 'node:events';
import { request as send } from 'node:http';
import { Router } from 'express';
import { expect, test } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { createMemoryTracing, type EndedSpan } from '#shared/tracing/memory/memory-tracing.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { until } from '../../testing/until.ts';
import { createApp } from './app.ts';
import { spanOf, traceparentOf } from './request-span.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

const routes = Router()
  .get('/things/:thingId', (request, response) => void response.json({ trace: traceparentOf(request) }))
  .get('/broken', () => {
    throw new Error('the password is hunter2');
  })
  .get('/slow', (request, response) => {
    response.writeHead(200).write('begun');
    spanOf(request)?.set({ begun: true });
  })
  .get('/livez', (_request, response) => void response.end());
// Served without a route of its own.
const unrouted = Router().use((request, response, next) =>
  request.path === '/token' ? void response.end() : next(),
);

const serveTraced = async () => {
  const tracing = createMemoryTracing();
  const { log, logged } = captureLog();
  const server = await serve(
    createApp({ log, metrics: createMetrics(), tracing, routes: [routes, unrouted] }),
  );
  const ended = (count = 1): Promise<readonly EndedSpan[]> =>
    until(
      () => tracing.ended,
      ({ length }) => length >= count,
    );
  return { ...server, logged, ended, tracing };
};

test('a request is a span named by its route, without path and query', async () => {
  await using server = await serveTraced();
  await fetch(`${server.url}/things/41?token=hunter2`, { headers: { 'X-Request-Id': 'request-1' } });
  const [span] = await server.ended();
  expect(span).toMatchObject({
    name: 'GET /things/:thingId',
    kind: 'server',
    parentSpanId: undefined,
    isFailure: false,
  });
  expect(span?.attributes).toEqual({
    'http.request.method': 'GET',
    'http.route': '/things/:thingId',
    'http.response.status_code': 200,
    'url.scheme': 'http',
    'network.protocol.version': '1.1',
    'annals.request.id': 'request-1',
  });
});

test('a request continues the trace of its caller, and passes on its own span', async () => {
  await using server = await serveTraced();
  const answer = await fetch(`${server.url}/things/41`, {
    headers: { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01` },
  });
  const [span] = await server.ended();
  expect(span).toMatchObject({ traceId: TRACE_ID, parentSpanId: SPAN_ID });
  expect(await answer.json()).toEqual({ trace: `00-${TRACE_ID}-${span?.spanId}-01` });
  expect(server.logged()).toContain(`"traceId":"${TRACE_ID}"`);
});

test('an invalid traceparent begins a new trace', async () => {
  await using server = await serveTraced();
  await fetch(`${server.url}/things/41`, { headers: { traceparent: `ff-${TRACE_ID}-${SPAN_ID}-01` } });
  const [span] = await server.ended();
  expect(span?.traceId).not.toBe(TRACE_ID);
  expect(span?.parentSpanId).toBeUndefined();
});

test('a server error fails the span by its status alone, and its log line has the trace id', async () => {
  await using server = await serveTraced();
  await fetch(`${server.url}/broken`);
  const [span] = await server.ended();
  expect(span).toMatchObject({
    name: 'GET /broken',
    isFailure: true,
    attributes: { 'error.type': '500', 'http.response.status_code': 500 },
  });
  expect(JSON.stringify(span)).not.toContain('hunter2');
  const lines = server
    .logged()
    .split('\n')
    .filter((line) => line.includes(`"traceId":"${span?.traceId}"`));
  expect(lines).toHaveLength(2);
});

test('an unknown path or method is no failure, and the span does not name the path', async () => {
  await using server = await serveTraced();
  await fetch(`${server.url}/secret-path`);
  await fetch(`${server.url}/things/41`, { method: 'PROPFIND' });
  const spans = await server.ended(2);
  expect(spans.map(({ name, isFailure }) => [name, isFailure])).toEqual([
    ['GET', false],
    ['HTTP', false],
  ]);
  expect(spans[1]?.attributes).toMatchObject({ 'http.request.method': '_OTHER' });
  expect(JSON.stringify(spans)).not.toContain('secret-path');
});

test('a fixed path names the span without a route', async () => {
  await using server = await serveTraced();
  await fetch(`${server.url}/token`, { method: 'POST' });
  expect((await server.ended())[0]?.name).toBe('POST /token');
});

test('a request ends when its client leaves', async () => {
  await using server = await serveTraced();
  const request = send(`${server.url}/slow`).end();
  await once(request, 'response');
  expect(server.tracing.ended).toEqual([]);
  request.destroy();
  const [span] = await server.ended();
  expect(span).toMatchObject({
    name: 'GET /slow',
    isFailure: false,
    attributes: { begun: true, 'http.response.status_code': 200 },
  });
});

test('health is not traced', async () => {
  await using server = await serveTraced();
  await fetch(`${server.url}/livez`);
  await fetch(`${server.url}/things/41`);
  expect((await server.ended()).map(({ name }) => name)).toEqual(['GET /things/:thingId']);
});
