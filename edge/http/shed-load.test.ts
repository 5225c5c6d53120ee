import { Router } from 'express';
import { expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { until } from '../../testing/until.ts';
import { createApp } from './app.ts';
import { countNoLonger, type LoadLimits, openLoadShedder } from './shed-load.ts';

/** Answers on demand, streams without an end, and blocks the process. */
const start = async (limits: Partial<LoadLimits>) => {
  const metrics = createMetrics();
  const shedder = openLoadShedder({ ...loadConfig({}).load, requestsMax: 100, ...limits }, metrics);
  const waiting: (() => void)[] = [];
  const routes = Router()
    .get('/waits', (_request, response) => void waiting.push(() => response.json({})))
    .get('/streams', (request, response) => {
      countNoLonger(request);
      response.write('begun');
    })
    .get('/quick', (_request, response) => void response.json({}));
  const { log, logged } = captureLog();
  const server = await serve(createApp({ log, metrics, routes: [Router().use(shedder.handler), routes] }));
  return {
    get: (path: string, signal?: AbortSignal) => fetch(`${server.url}${path}`, signal ? { signal } : {}),
    waiting,
    metric: async (name: string) =>
      (await metrics.getSingleMetricAsString(name)).split('\n').filter((line) => !line.startsWith('#')),
    logged,
    async [Symbol.asyncDispose]() {
      shedder[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
};

test('beyond the maximum of concurrent requests, the next is refused until one is answered', async () => {
  await using app = await start({ requestsMax: 2 });
  const begun = [app.get('/waits'), app.get('/waits')];
  await until(
    async () => app.waiting.length,
    (count) => count === 2,
  );
  expect(await app.metric('annals_http_requests_in_flight')).toEqual(['annals_http_requests_in_flight 2']);
  const refused = await app.get('/quick');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused.json()).toMatchObject({ code: 'overloaded' });
  app.waiting.pop()?.();
  await Promise.race(begun);
  await until(
    async () => (await app.get('/quick')).status,
    (status) => status === 200,
  );
  expect(await app.metric('annals_http_requests_shed_total')).toContainEqual(
    expect.stringMatching(/reason="requests"\} \d/),
  );
  app.waiting.pop()?.();
  await Promise.all(begun);
});

test('a client that left does not count, and neither does a stream', async () => {
  await using app = await start({ requestsMax: 1 });
  const leaving = new AbortController();
  const left = app.get('/waits', leaving.signal).catch((error: Error) => error.name);
  await until(
    async () => app.waiting.length,
    (count) => count === 1,
  );
  leaving.abort();
  expect(await left).toBe('AbortError');
  await until(
    async () => (await app.get('/quick')).status,
    (status) => status === 200,
  );
  const streaming = new AbortController();
  expect((await app.get('/streams', streaming.signal)).status).toBe(200);
  expect((await app.get('/quick')).status).toBe(200);
  streaming.abort();
});

test('while the event loop lags steadily, requests are refused, and it recovers by itself', async () => {
  await using app = await start({ lagMaxMs: 100 });
  const blocking = new AbortController();
  // Late by 300 ms each time, with room for waiting work in between.
  const timer = setInterval(() => {
    const untilMs = performance.now() + 300;
    while (performance.now() < untilMs);
  }, 310);
  blocking.signal.addEventListener('abort', () => clearInterval(timer));
  const refused = await until(
    () => app.get('/quick'),
    ({ status }) => status === 503,
  );
  expect(await refused.json()).toMatchObject({ code: 'overloaded' });
  blocking.abort();
  await until(
    async () => (await app.get('/quick')).status,
    (status) => status === 200,
  );
});

test('a refusal is one line in the log', async () => {
  await using app = await start({ requestsMax: 1 });
  const waits = app.get('/waits');
  await until(
    async () => app.waiting.length,
    (count) => count === 1,
  );
  expect((await app.get('/quick')).status).toBe(503);
  app.waiting.pop()?.();
  await waits;
  const lines = () =>
    app
      .logged()
      .split('\n')
      .filter((line) => line.includes('"/quick"'));
  await until(
    async () => lines().length,
    (count) => count > 0,
  );
  expect(lines()).toEqual([expect.stringContaining('"msg":"request"')]);
});
