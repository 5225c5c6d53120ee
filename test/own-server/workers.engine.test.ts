import { afterAll, beforeAll, expect, test } from 'vitest';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import { runAnnals } from '../annals-process.ts';
import { tokenOf } from '../chaos/steady-load.ts';
import { startWorkers, type Workers } from '../engines/workers.ts';

// Own server: it tests the processes of one start.

let annals: Workers;
beforeAll(async () => {
  annals = await startWorkers({ RATE_LIMIT_ANONYMOUS: '1', RATE_LIMIT_ANONYMOUS_BURST: '300' });
});
afterAll(() => annals[Symbol.asyncDispose]());

/** Each on a connection of its own, which goes to the next worker. */
const ask = (path: string) => annals.fetch(`${annals.url}${path}`, { headers: { connection: 'close' } });

const numberOf = async (metric: string): Promise<number> => {
  const line = (await annals.metrics()).split('\n').find((each) => each.startsWith(`${metric} `));
  return Number(line?.slice(metric.length + 1));
};

test('is ready as a whole, and both workers see each other’s writes', async () => {
  expect(await (await ask('/readyz')).json()).toMatchObject({
    status: 'ready',
    checks: { 'followers of the log': 'pass' },
  });
  const request = restClientOf(annals);
  const token = await until(() => tokenOf(annals), Boolean);
  const made = await request('POST', '/articles', {
    token,
    body: { title: 'One', body: 'x', tags: [], publish: true },
  });
  expect(made.status).toBe(201);
  const path = made.headers.get('location') ?? '';
  const headers = { connection: 'close', 'consistency-token': made.headers.get('consistency-token') ?? '' };
  for (let index = 0; index < 4; index += 1)
    expect((await request('GET', path, { headers })).body).toMatchObject({ title: 'One' });
  const answered = new Set(
    [...annals.primary.printed().matchAll(/"worker":"(\d)".*"msg":"request"/g)].map(([, worker]) => worker),
  );
  expect([...answered].toSorted()).toEqual(['1', '2']);
});

test('requests of one address are counted over all workers', async () => {
  const left = new Set<number>();
  for (let index = 0; index < 40; index += 1)
    left.add(Number(/r=(\d+)/.exec((await ask('/articles')).headers.get('ratelimit') ?? '')?.[1]));
  // One unit comes back per second: counted in each worker, there would be 20 numbers.
  expect(left.size).toBeGreaterThan(25);
});

test('metrics cover all processes, and a follower is counted once', async () => {
  expect(await numberOf('annals_follower_behind{follower="projector"}')).toBe(0);
  const requests = async () =>
    (await annals.metrics())
      .split('\n')
      .filter((line) => /^annals_http_request_duration_seconds_count\{/.test(line))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  const had = await requests();
  for (let index = 0; index < 10; index += 1) await ask('/articles');
  expect((await requests()) - had).toBe(10);
});

test('a wrong setting of a worker is one sentence, and stops all of them', async () => {
  const { exit, output } = await runAnnals(['main.ts'], {
    ...annals.settings,
    TLS_CERT: '/nowhere',
    TLS_KEY: '/nowhere',
    PORT: '0',
    METRICS_PORT: '0',
  });
  expect(exit).toBe(1);
  expect(output).toContain('TLS_CERT is /nowhere, which cannot be read');
});

test('it stops cleanly', async () => {
  expect(await annals.primary.kill('SIGTERM')).toBe(0);
  expect(await annals.pids().catch(() => new Map())).toEqual(new Map());
});
