import { expect, test } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { openPool } from '#shared/database/pool.ts';
import { observeProjector } from './service.ts';

test('if the database does not answer, the metric is unknown, and the others are reported', async () => {
  await using away = openPool({
    url: 'postgres://nobody@127.0.0.1:1/nothing',
    applicationName: 'test',
    connectionsMax: 1,
  });
  const metrics = createMetrics();
  observeProjector({ pool: away, metrics });
  const shown = await metrics.metrics();
  expect(shown).toMatch(/annals_projector_parked nan/i);
  expect(shown).toMatch(/annals_projector_skipped nan/i);
  expect(shown).toContain('process_cpu_seconds_total');
});
