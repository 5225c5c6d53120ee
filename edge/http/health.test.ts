import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NotReady } from '#shared/not-ready.ts';
import { captureLog, serveRoutes } from '../../test/serve.ts';
import { Health, healthRoutes } from './health.ts';

const open = async (timeoutMs?: number) => {
  const { log, logged } = captureLog();
  const health = new Health(log, timeoutMs);
  const server = await serveRoutes(healthRoutes(health));
  const ready = async () => {
    const response = await fetch(`${server.url}/readyz`);
    return {
      status: response.status,
      body: (await response.json()) as { status: string; checks: Record<string, string> },
    };
  };
  return { health, server, ready, logged, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};

test('a process that answers is alive, ready or not', async () => {
  await using fixture = await open();
  fixture.health.add('database', () => Promise.reject(new Error('away')));
  expect((await fetch(`${fixture.server.url}/livez`)).status).toBe(200);
});

test('ready means that every check passes', async () => {
  await using fixture = await open();
  fixture.health.add('database', async () => {});
  expect(await fixture.ready()).toEqual({
    status: 200,
    body: { status: 'ready', checks: { database: 'pass' } },
  });
});

test('a failed check is named, and its reason is only in the log', async () => {
  await using fixture = await open();
  fixture.health.add('database', async () => {});
  fixture.health.add('event log', () => Promise.reject(new Error('no route to db.internal')));
  expect(await fixture.ready()).toEqual({
    status: 503,
    body: { status: 'not ready', checks: { database: 'pass', 'event log': 'fail' } },
  });
  expect(fixture.logged()).toContain('no route to db.internal');
});

test('a check may state a public reason', async () => {
  await using fixture = await open();
  fixture.health.add('database', () =>
    Promise.reject(new NotReady('The disk is full.', { cause: new Error('/srv/annals') })),
  );
  const { body } = await fixture.ready();
  expect(body).toEqual({
    status: 'not ready',
    checks: { database: 'fail' },
    reasons: { database: 'The disk is full.' },
  });
});

test('an optional check is shown, and the process is ready without it', async () => {
  await using fixture = await open();
  fixture.health.add('database', async () => {});
  fixture.health.add('event log', () => Promise.reject(new Error('away')), { isRequired: false });
  expect(await fixture.ready()).toEqual({
    status: 200,
    body: { status: 'ready', checks: { database: 'pass', 'event log': 'fail' } },
  });
});

test('a check that throws synchronously fails like any other', async () => {
  await using fixture = await open();
  fixture.health.add('database', () => {
    throw new Error('broken');
  });
  expect((await fixture.ready()).status).toBe(503);
});

test('a check that takes too long fails, and is aborted', async () => {
  await using fixture = await open(50);
  let aborted = false;
  fixture.health.add('database', async (signal) => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    await delay(60_000, undefined, { signal });
  });
  expect((await fixture.ready()).body.checks).toEqual({ database: 'fail' });
  expect(aborted).toBe(true);
});

test('concurrent requests share one run of the checks', async () => {
  await using fixture = await open();
  const { promise, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  fixture.health.add('database', () => {
    runs += 1;
    return promise;
  });
  const asked = [1, 2, 3].map(() => fixture.health.readiness());
  resolve();
  await Promise.all(asked);
  expect(runs).toBe(1);
});

test('while draining it says so and runs no checks', async () => {
  await using fixture = await open();
  fixture.health.add('database', () => Promise.reject(new Error('asked')));
  fixture.health.drain();
  expect(await fixture.ready()).toEqual({ status: 503, body: { status: 'draining', checks: {} } });
});
