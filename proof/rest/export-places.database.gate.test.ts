import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Router } from 'express';
import { pino } from 'pino';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { Health } from '#edge/http/health.ts';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { test as base } from '../../test/engines/audited-log.ts';
import { openTokenVerification } from '../../test/engines/token-verification.ts';
import { serveRoutes } from '../../test/serve.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { exportRoutes } from './export.ts';

const test = base
  /** Reading the head of the log waits for this. */
  .extend('gate', { scope: 'file' }, () => ({ opens: Promise.resolve() }))
  .extend('exported', { scope: 'file' }, async ({ audited, gate }, { onCleanup }) => {
    await using opening = new AsyncDisposableStack();
    const log = pino({ level: 'silent' });
    const { authorization, resource } = await openTokenVerification({ pool: audited.pool, log });
    opening.use(resource);
    const { eventLog } = audited;
    const gated = {
      ...{ identity: eventLog.identity, eventAt: eventLog.eventAt, follow: eventLog.follow.bind(eventLog) },
      head: () => gate.opens.then(() => eventLog.head()),
    };
    const parts = { ...audited, eventLog: gated, log, health: new Health(log), access: resource, before: [] };
    const routes = exportRoutes({ ...parts, domain: publishing, drainMaxMs: scaled(500) });
    const { url } = opening.use(await serveRoutes(Router().use(resource.handler, routes)));
    const resources = opening.move();
    onCleanup(() => resources.disposeAsync());
    const headers = await authorization({ id: 1, role: 'admin' });
    return { url, headers: { ...headers, accept: 'application/x-ndjson' } };
  })
  .extend(
    'ask',
    { scope: 'file' },
    ({ exported: { headers, url } }) =>
      (query = '') =>
        fetch(`${url}/audit/export${query}`, { headers }),
  );

test('an export takes its slot before it looks for the range', async ({ ask, gate }) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.opens = promise;
  const asked = Array.from({ length: 5 }, async () => {
    const response = await ask();
    await response.text();
    return response.status;
  });
  expect(await Promise.race(asked)).toBe(429);
  resolve();
  expect((await Promise.all(asked)).sort()).toEqual([200, 200, 200, 200, 429]);
  // A refused export frees its slot.
  for (let refusals = 0; refusals < 5; refusals += 1) expect((await ask('?after=rubbish')).status).toBe(400);
});

test('a client that takes nothing more loses its slot', async ({
  ask,
  audited,
  exported: { headers, url },
}) => {
  // More than the buffers of both ends hold.
  for (let events = 0; events < 24; events += 1)
    await audited.eventLog.append(`thing-${events}` as StreamName, 'any', [
      { id: randomUUID() as EventId, type: 'thing.noted', data: { text: 'x'.repeat(900_000) }, metadata: {} },
    ]);
  const idle = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const asked = request(`${url}/audit/export`, { headers }).end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.on('error', () => {});
      return response;
    }),
  );
  const refused = await ask();
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
    429,
    'too_many_streams',
  ]);
  const letIn = await until(
    () => ask(),
    ({ status }) => status === 200,
  );
  expect((await letIn.text()).trimEnd().split('\n')).toHaveLength(25);
  for (const response of idle) response.destroy();
});
