import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Router } from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventId, StreamName } from '#shared/brands.ts';
import { openResourceServer } from '#shared/http/authenticate/resource-server.ts';
import { Health } from '#shared/http/health.ts';
import { type AuditedLog, createAuditedLog } from '../../test/engines/audited-log.ts';
import { SCOPES } from '../../test/engines/policy.ts';
import { serveRoutes } from '../../test/serve.ts';
import { AUDIENCE, createTokenMint, ISSUER } from '../../test/token-mint.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { exportRoutes } from './export.ts';

const resources = new AsyncDisposableStack();
let audited: AuditedLog;
let headers: Readonly<Record<string, string>>;
/** Reading the head of the log waits for this. */
let gate: Promise<unknown> = Promise.resolve();
let url: string;
beforeAll(async () => {
  audited = resources.use(await createAuditedLog());
  const log = pino({ level: 'silent' });
  const mint = await createTokenMint();
  const resource = resources.use(
    await openResourceServer({
      ...{
        pool: audited.pool,
        domain: publishing,
        log,
        issuer: ISSUER,
        audience: AUDIENCE,
        ingressSecret: undefined,
      },
      loadKeys: async () => mint.jwks,
    }),
  );
  const eventLog = {
    ...{ identity: audited.eventLog.identity, follow: audited.eventLog.follow.bind(audited.eventLog) },
    head: () => gate.then(() => audited.eventLog.head()),
  };
  const parts = {
    ...audited,
    eventLog,
    log,
    health: new Health(log),
    access: resource,
    before: [],
    drainMaxMs: scaled(500),
  };
  ({ url } = resources.use(await serveRoutes(Router().use(resource.handler, exportRoutes(parts)))));
  const token = await mint.token({ sub: '1', role: 'admin', scope: [...SCOPES].join(' ') });
  headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' };
});
afterAll(() => resources.disposeAsync());

const ask = () => fetch(`${url}/audit/export`, { headers });

test('an export takes its slot before it looks for the range', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  const asked = Array.from({ length: 5 }, async () => {
    const response = await ask();
    await response.text();
    return response.status;
  });
  expect(await Promise.race(asked)).toBe(429);
  resolve();
  expect((await Promise.all(asked)).sort()).toEqual([200, 200, 200, 200, 429]);
  // A refused export frees its slot.
  for (let refusals = 0; refusals < 5; refusals += 1)
    expect((await fetch(`${url}/audit/export?after=rubbish`, { headers })).status).toBe(400);
});

test('a client that takes nothing more loses its slot', async () => {
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
  const letIn = await until(ask, ({ status }) => status === 200);
  expect((await letIn.text()).trimEnd().split('\n')).toHaveLength(25);
  for (const response of idle) response.destroy();
});
