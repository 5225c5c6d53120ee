import { Router } from 'express';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { type AuthenticateOptions, authenticate } from '#edge/authenticate/authenticate.ts';
import { limitRate } from '#edge/http/limit-rate.ts';
import { createRateLimit } from '#edge/rate-limit/gcra.ts';
import { memoryArrivals } from '#edge/rate-limit/memory/arrivals.ts';
import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { policyOf } from '#shared/policy.ts';
import { serveRoutes } from '../../test/serve.ts';
import { type AnyReads, type Reads, readRoutes } from './read-routes.ts';

test('a search costs as many units as five other reads', async () => {
  const policy = { name: 'default', unitsPerSecond: 1, burst: 100 };
  const arrivals = memoryArrivals({ nowUs: () => 0 });
  const limits = { of: () => createRateLimit(arrivals, policy), [Symbol.asyncDispose]: async () => {} };
  const limited = limitRate({ limits, client: policy, anonymous: policy, metrics: createMetrics() });
  const listArticles = async (): Promise<ListAnswer> => ({
    kind: 'list',
    items: [],
    links: { self: '/articles' },
  });
  // No request has a token, so authentication needs no keys.
  const look = authenticate({
    audience: 'http://localhost',
    policy: policyOf(publishing),
  } as AuthenticateOptions);
  await using server = await serveRoutes(
    Router().use(look),
    limited,
    readRoutes({ listArticles } as unknown as Reads & AnyReads, {
      domain: publishing,
      before: [],
      readJustCreated: (_, read) => read(),
    }),
  );
  const left = async (path: string) => {
    const { headers } = await fetch(`${server.url}${path}`);
    return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  };
  expect(await left('/articles')).toBe(99);
  expect(await left('/articles?tag=x')).toBe(98);
  expect(await left('/articles?q=x')).toBe(93);
});
