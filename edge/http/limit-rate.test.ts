// Over 200 lines, because it is one table of who is charged, with its server.
import type { IncomingMessage } from 'node:http';
import { type Response as Answer, type Request, type RequestHandler, Router } from 'express';
import { expect, test } from 'vitest';
import { createRateLimit } from '#edge/rate-limit/gcra.ts';
import { memoryArrivals } from '#edge/rate-limit/memory/arrivals.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { createApp } from './app.ts';
import { type Authentication, limitRate, takeMore } from './limit-rate.ts';

const client = { name: 'default', unitsPerSecond: 100, burst: 2_000 };
const anonymous = { name: 'anonymous', unitsPerSecond: 20, burst: 500 };

/** Like the real one: fails on an invalid token, and knows the caller of a valid one. */
const authenticate = (): Authentication => {
  const callers = new WeakMap<IncomingMessage, Caller>();
  const handler: RequestHandler = (request, _response, next) => {
    const [user, from = null] = request.get('X-Caller')?.split(' ') ?? [];
    if (user === 'forged') throw new Rejection('unauthenticated');
    if (user === 'overloaded' || user === 'unavailable') throw new HttpProblem(user);
    if (user !== undefined) {
      callers.set(request, {
        kind: 'user',
        policy: POLICY,
        userId: Number(user) as UserId,
        role: 'reader',
        scopes: new Set(),
        client: from,
      });
    }
    next();
  };
  return { handler, callerOf: (request) => callers.get(request) ?? { kind: 'anonymous', policy: POLICY } };
};

type Options = {
  readonly trustProxy?: number;
  readonly bursts?: { client: number; anonymous: number };
  readonly units?: number;
};

/** The clock is frozen, so that the remaining units can be counted. */
const start = async ({
  trustProxy = 0,
  bursts = { client: 2_000, anonymous: 500 },
  units = 0,
}: Options = {}) => {
  const clock = { us: 0 };
  const arrivals = memoryArrivals({ nowUs: () => clock.us });
  const metrics = createMetrics();
  const limited = limitRate({
    limits: { of: (policy) => createRateLimit(arrivals, policy), [Symbol.asyncDispose]: async () => {} },
    client: { ...client, burst: bursts.client },
    anonymous: { ...anonymous, burst: bursts.anonymous },
    metrics,
    authentication: authenticate(),
  });
  const answer = async (request: Request, response: Answer) => {
    await takeMore(request, response, units);
    response.json({});
  };
  const server = await serve(
    createApp({ log: captureLog().log, metrics, routes: [limited, Router().get('/x', answer)], trustProxy }),
  );
  const get = (headers: Record<string, string> = {}) => fetch(`${server.url}/x`, { headers });
  return { get, clock, metrics, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
};

const fieldsOf = ({ headers }: Response) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];

test('the policy header has the burst and the time to refill it', async () => {
  await using app = await start();
  expect(fieldsOf(await app.get({ 'X-Caller': '1 a' }))).toEqual([
    '"default";q=2000;w=20',
    '"default";r=1999;t=1',
  ]);
  expect(fieldsOf(await app.get())).toEqual(['"anonymous";q=500;w=25', '"anonymous";r=499;t=1']);
});

test('a client that never takes more than q in w seconds is never refused', async () => {
  await using app = await start({ bursts: { client: 2_000, anonymous: 30 } });
  for (let window = 0; window < 3; window += 1) {
    for (let index = 0; index < 30; index += 1) {
      const response = await app.get();
      expect([response.status, fieldsOf(response)[0]]).toEqual([200, '"anonymous";q=30;w=2']);
    }
    expect((await app.get()).status).toBe(429);
    app.clock.us += 2_000_000;
  }
});

test('a request over the limit is a problem with a time to retry', async () => {
  await using app = await start({ bursts: { client: 10, anonymous: 1 } });
  await app.get();
  const response = await app.get();
  expect(response.status).toBe(429);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(fieldsOf(response)).toEqual(['"anonymous";q=1;w=1', '"anonymous";r=0;t=1']);
  expect(await response.json()).toMatchObject({
    code: 'rate_limited',
    status: 429,
    detail: 'At most 1 units at once, and 20 per second.',
  });
  app.clock.us += 50_000;
  expect((await app.get()).status).toBe(200);
});

test('each user has a limit per client, and each address has its own', async () => {
  await using app = await start({ bursts: { client: 1, anonymous: 1 } });
  for (const caller of ['1 a', '1 b', '2 a', '12 a', undefined]) {
    const headers: Record<string, string> = caller === undefined ? {} : { 'X-Caller': caller };
    expect((await app.get(headers)).status).toBe(200);
    expect((await app.get(headers)).status).toBe(429);
  }
});

test('the agents of a user share one limit, with clients that documents describe', async () => {
  await using app = await start({ bursts: { client: 1, anonymous: 1 } });
  const statusOf = async (caller: string) => (await app.get({ 'X-Caller': caller })).status;
  expect(await statusOf('1 web>bot')).toBe(200);
  for (const other of ['app>bot', 'web>other', 'https://agent.example/a.json', 'https://b.example/b>bot'])
    expect(await statusOf(`1 ${other}`)).toBe(429);
  expect(await statusOf('1 web')).toBe(200);
  expect(await statusOf('2 web>bot')).toBe(200);
});

test('an invalid token is charged to the address', async () => {
  await using app = await start({ bursts: { client: 1, anonymous: 2 } });
  const statuses = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await app.get({ 'X-Caller': 'forged' })).status);
  expect(statuses).toEqual([401, 401, 429]);
  expect((await app.get()).status).toBe(429);
});

test.for(['overloaded', 'unavailable'])(
  'a request that is refused before its caller is known (%s) is charged to nobody',
  async (code) => {
    await using app = await start({ bursts: { client: 1, anonymous: 1 } });
    const answers = [];
    for (let index = 0; index < 3; index += 1) answers.push(await app.get({ 'X-Caller': code }));
    expect(answers.map(({ status, headers }) => [status, headers.get('ratelimit')])).toEqual(
      Array(3).fill([503, null]),
    );
    expect((await app.get()).status).toBe(200);
  },
);

test.each([
  {
    trustProxy: 0,
    forwarded: ['192.0.2.1', '192.0.2.2'],
    statuses: [200, 429],
    what: 'a forwarded address is ignored',
  },
  {
    trustProxy: 1,
    forwarded: ['192.0.2.1', '192.0.2.2'],
    statuses: [200, 200],
    what: 'the forwarded address counts',
  },
  {
    trustProxy: 1,
    forwarded: ['1.1.1.1, 192.0.2.1', '2.2.2.2, 192.0.2.1'],
    statuses: [200, 429],
    what: 'addresses before the one that the proxy added are ignored',
  },
  {
    trustProxy: 2,
    forwarded: ['192.0.2.1, 10.0.0.1', '192.0.2.2, 10.0.0.1'],
    statuses: [200, 200],
    what: 'the last but one counts',
  },
  {
    trustProxy: 1,
    forwarded: ['unknown', 'nonsense'],
    statuses: [200, 429],
    what: 'an invalid address is ignored',
  },
  {
    trustProxy: 1,
    forwarded: ['2001:db8::1', '2001:db8::ffff:1'],
    statuses: [200, 429],
    what: 'one /64 is one client',
  },
])('with $trustProxy trusted proxies: $what', async ({ trustProxy, forwarded, statuses }) => {
  await using app = await start({ trustProxy, bursts: { client: 1, anonymous: 1 } });
  const seen = [];
  for (const address of forwarded) seen.push((await app.get({ 'X-Forwarded-For': address })).status);
  expect(seen).toEqual(statuses);
});

test('a route may take more units, and is refused if they are missing', async () => {
  await using app = await start({ bursts: { client: 10, anonymous: 10 }, units: 5 });
  expect(fieldsOf(await app.get())[1]).toBe('"anonymous";r=4;t=1');
  const refused = await app.get();
  expect([refused.status, fieldsOf(refused)[1]]).toEqual([429, '"anonymous";r=3;t=1']);
});

test('a request that costs more than a burst must become smaller, not wait', async () => {
  await using app = await start({ bursts: { client: 10, anonymous: 10 }, units: 11 });
  const response = await app.get();
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, null]);
  expect(await response.json()).toMatchObject({
    detail: 'This costs 11 units, and at most 10 are given at once: ask for less.',
  });
});

test('granted and refused units are counted', async () => {
  await using app = await start({ bursts: { client: 1, anonymous: 1 } });
  await app.get();
  await app.get({ 'X-Caller': 'forged' });
  const metrics = await app.metrics.metrics();
  expect(metrics).toContain('annals_rate_limit_requests_total{policy="anonymous",outcome="refused"} 1');
  expect(metrics).toMatch(/annals_rate_limit_requests_total\{policy="anonymous",outcome="allowed"\} \d/);
});
