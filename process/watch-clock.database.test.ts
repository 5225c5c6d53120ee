import { Registry } from 'prom-client';
import { expect } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { readClockReport } from '#shared/clock-drift/drift.ts';
import { test } from '../test/engines/processes.ts';
import { until } from '../testing/until.ts';
import { watchClock } from './watch-clock.ts';

const AHEAD_MS = 5_000;
const wrong = { ...REAL_TIME, nowMs: () => REAL_TIME.nowMs() + AHEAD_MS, aheadMs: () => 0 };

const measured = async (metrics: Registry): Promise<number> => {
  const [metric] = await metrics.getMetricsAsJSON();
  return Number(metric?.values[0]?.value ?? 0);
};

test('a clock that is wrong is measured, kept with its day, and stays the largest of the day', async ({
  side: { pool },
}) => {
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const metrics = new Registry();
  const given = { pool, log, isReader: false, source: 'chrony with time.example' };
  {
    await using _right = watchClock({ ...given, clock: REAL_TIME, metrics, role: 'annals-auth' });
    await until(
      () => readClockReport(pool),
      ({ measurements }) => measurements === 1,
    );
  }
  expect(warnings).toEqual([]);
  const others = new Registry();
  {
    await using _wrong = watchClock({ ...given, clock: wrong, metrics: others, role: 'annals-command' });
    await until(
      () => readClockReport(pool),
      ({ measurements }) => measurements === 2,
    );
  }
  expect(await measured(others)).toBeGreaterThan(4.9);
  expect(warnings).toHaveLength(1);
  const clock = await readClockReport(pool);
  expect(clock).toMatchObject({
    source: 'chrony with time.example',
    since: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    largest: [{ against: 'database', role: 'annals-command' }],
  });
  const [largest] = clock.largest;
  expect(largest?.driftMs).toBeGreaterThan(AHEAD_MS - (largest?.uncertaintyMs ?? 0) - 1);
  // A later measurement that is smaller changes neither.
  await using _right = watchClock({
    ...given,
    clock: REAL_TIME,
    metrics: new Registry(),
    role: 'annals-auth',
  });
  const later = await until(
    () => readClockReport(pool),
    ({ measurements }) => measurements === 3,
  );
  expect(later.largest).toEqual(clock.largest);
});

test('before the first measurement, and for a role that only reads, nothing is recorded', async ({
  side: { pool },
}) => {
  await pool.query('drop schema if exists clock cascade');
  expect(await readClockReport(pool)).toEqual({
    ...{
      source: null,
      since: null,
      measurements: 0,
      largest: [],
      recent: [],
      wentBack: { count: 0, latest: [] },
    },
  });
  const metrics = new Registry();
  const given = { pool, log: { warn: () => {} }, source: undefined, clock: wrong, metrics };
  await using _reading = watchClock({ ...given, role: 'annals-query', isReader: true });
  await until(
    () => measured(metrics),
    (seconds) => seconds > 4,
  );
  expect(await readClockReport(pool)).toMatchObject({ measurements: 0 });
});
