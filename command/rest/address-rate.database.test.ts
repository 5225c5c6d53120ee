import { expect, test } from 'vitest';
import { type Authentication, limitRate } from '#edge/http/limit-rate.ts';
import { createRateLimit } from '#edge/rate-limit/gcra.ts';
import { memoryArrivals } from '#edge/rate-limit/memory/arrivals.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { createWriteApi } from '../../test/engines/write-api.ts';

/** A fixed clock, so that the remaining quota is predictable. */
const limited = (authentication: Authentication) => {
  const arrivals = memoryArrivals({ nowUs: () => 0 });
  const limits = {
    of: (policy: Parameters<typeof createRateLimit>[1]) => createRateLimit(arrivals, policy),
    [Symbol.asyncDispose]: async () => {},
  };
  const policy = { name: 'default', unitsPerSecond: 100, burst: 250 };
  return limitRate({ limits, client: policy, anonymous: policy, metrics: createMetrics(), authentication });
};

test('a caller who tries one address after the other must soon wait, and may make other changes meanwhile', async () => {
  await using api = await createWriteApi({ admit: limited });
  const path = `/users/${api.reader.id}`;
  const change = (body: object, by = api.reader) => api.send('PATCH', path, { body, by });
  const statuses = [];
  for (const email of ['a@example.com', 'b@example.com', 'c@example.com'])
    statuses.push((await change({ email })).status);
  expect(statuses).toEqual([403, 403, 429]);
  expect(await change({ name: 'Ada' })).toMatchObject({ status: 200 });
  expect(await change({ email: 'd@example.com' }, api.admin as never)).toMatchObject({ status: 200 });
});
