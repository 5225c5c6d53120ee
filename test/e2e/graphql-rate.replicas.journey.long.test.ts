import { expect } from 'vitest';
import type { GraphqlReply } from '../../testing/graphql/graphql-client.ts';
import { test as base } from '../engines/installation-fixture.ts';

const BURST = 200;
const test = base.extend(
  'installationOptions',
  { scope: 'file' },
  { settings: { RATE_LIMIT_ANONYMOUS: '1', RATE_LIMIT_ANONYMOUS_BURST: String(BURST) } },
);

const left = ({ headers }: GraphqlReply<unknown>): number =>
  Number(/(?<=r=)\d+/.exec(headers.get('ratelimit') ?? '')?.[0]);
const DEAR = '{ users(limit: 18) { posts(limit: 19) { id } } }';

test('an operation takes a unit for every 50 of its cost, and a refused caller learns when to retry', async ({
  graphql,
}) => {
  const cheap = await graphql('{ users(limit: 1) { id } }');
  const before = left(cheap);
  expect(before).toBeGreaterThanOrEqual(BURST - 5);
  const dear = await graphql(DEAR);
  expect(dear.extensions).toEqual({ cost: { requestedQueryCost: 360, maximumQueryCost: 1_000 } });
  // ⌈360 / 50⌉; some may have come back meanwhile.
  expect([7, 8]).toContain(before - left(dear));
  let reply = dear;
  for (let count = 0; count < 2 * (BURST / 8) && reply.status === 200; count += 1)
    reply = await graphql(DEAR);
  expect(reply.status).toBe(429);
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(reply.errors).toMatchObject([{ extensions: { code: 'rate_limited' } }]);
  expect(reply).not.toHaveProperty('data', expect.anything());
});
