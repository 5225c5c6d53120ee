import { type RequestHandler, Router } from 'express';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { Health } from '#edge/http/health.ts';
import { openRateLimits } from '#process/engines/open-rate-limits.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { captureLog } from '../test/serve.ts';
import { until } from '../testing/until.ts';
import { loadConfig } from './load-config.ts';
import { createMetrics } from './observability/metrics.ts';
import { type Served, serveClients } from './serve-clients.ts';

const start = async (
  resources: AsyncDisposableStack,
  served: Partial<Served> = {},
  settings = {},
): Promise<string> => {
  const config = loadConfig({
    PORT: '0',
    METRICS_PORT: '0',
    RATE_LIMIT_ANONYMOUS: '1',
    RATE_LIMIT_ANONYMOUS_BURST: '1',
    DRAIN_MS: '10000',
    ...settings,
  });
  const { log } = captureLog();
  const rateLimits = resources.use(
    await openRateLimits({ url: config.rateLimits.url, installation: 'one', log, clock: REAL_TIME }),
  );
  const foundation = {
    domain: publishing,
    clock: REAL_TIME,
    health: new Health(log),
    metrics: createMetrics(),
    rateLimits,
  };
  const { url } = await serveClients({ config, log, resources }, foundation, {
    routes: [],
    links: [],
    ...served,
  });
  return url;
};

test('every path is rate-limited, except those of health', async () => {
  await using resources = new AsyncDisposableStack();
  const url = await start(resources);
  const statusOf = async (path: string) => (await fetch(url + path)).status;
  expect(await statusOf('/')).toBe(200);
  expect(await statusOf('/nowhere')).toBe(429);
  for (let index = 0; index < 5; index += 1)
    expect([await statusOf('/livez'), await statusOf('/readyz')]).toEqual([200, 200]);
});

test.each([
  ['production', 'https://annals.example', 'max-age=31536000'],
  ['production', 'http://annals.example', null],
  // On a developer’s machine the same host has other ports.
  ['development', 'https://localhost:4000', null],
])('in %s at %s browsers are told of https: %s', async (NODE_ENV, PUBLIC_URL, expected) => {
  await using resources = new AsyncDisposableStack();
  const production = {
    NODE_ENV,
    PUBLIC_URL,
    MASTER_KEY: 'A'.repeat(43),
    HOST: '127.0.0.1',
    DRAIN_NOTICE_MS: '0',
  };
  const fastPath = { takes: () => true, handlers: [answerOk], failures: [] };
  for (const served of [{}, { fastPaths: [fastPath] }]) {
    const url = await start(resources, served, production);
    expect((await fetch(url)).headers.get('strict-transport-security')).toBe(expected);
  }
});

const answerOk: RequestHandler = (_request, response) => void response.end('ok');

test('two servers drain at the same time', async () => {
  await using resources = new AsyncDisposableStack();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  let isAsked = false;
  let isDraining = false;
  const slow = Router().get('/slow', async (_request, response) => {
    isAsked = true;
    await answered;
    response.end('done');
  });
  const beside = {
    url: 'http://127.0.0.1:0',
    leave: () => {},
    [Symbol.asyncDispose]: async () => {
      isDraining = true;
    },
  };
  const url = await start(resources, { routes: [slow], beside });
  const asked = fetch(`${url}/slow`);
  await until(
    () => isAsked,
    (is) => is,
  );
  const stopped = resources.disposeAsync();
  // The first request is still open when the second server starts to drain.
  await until(
    () => isDraining,
    (is) => is,
    5_000,
  );
  answer();
  expect(await (await asked).text()).toBe('done');
  await stopped;
});

test('during the notice before it stops, it still accepts requests, and closes each connection afterwards', async () => {
  await using resources = new AsyncDisposableStack();
  const quick = Router().get('/quick', (_request, response) => void response.json({}));
  const url = await start(
    resources,
    { routes: [quick] },
    { DRAIN_NOTICE_MS: '2000', RATE_LIMIT_ANONYMOUS_BURST: '10' },
  );
  expect((await fetch(`${url}/quick`)).headers.get('connection')).toBe('keep-alive');
  const stopping = resources.disposeAsync();
  const readiness = await fetch(`${url}/readyz`);
  expect([readiness.status, await readiness.json()]).toMatchObject([503, { status: 'draining' }]);
  const answer = await fetch(`${url}/quick`);
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
  await stopping;
  await expect(fetch(`${url}/quick`)).rejects.toThrow();
});
