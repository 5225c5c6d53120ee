import { expect, test } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { observeFollower } from './observe-follower.ts';

test('if the database does not respond, the lag is unknown, and the other metrics are still reported', async () => {
  await using away = openPool({
    url: 'postgres://nobody@127.0.0.1:1/nothing',
    applicationName: 'test',
    connectionsMax: 1,
  });
  const metrics = createMetrics();
  observeFollower({
    name: 'asks in vain',
    pool: away,
    eventLog: { head: () => Promise.reject(new Error('away')) } as never,
    metrics,
    clock: REAL_TIME,
  });
  const shown = await metrics.metrics();
  expect(shown).toMatch(/annals_follower_behind\{follower="asks in vain"\} nan/i);
  expect(shown).toMatch(/annals_follower_behind_seconds\{follower="asks in vain"\} nan/i);
  expect(shown).toContain('process_cpu_seconds_total');
});
