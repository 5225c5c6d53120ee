import { expect } from 'vitest';
import { test } from '../../test/engines/pool.ts';
import { migrateOperations } from './migrate.ts';
import { keepSample, POINTS_MAX, readSamples, SAMPLE_EVERY_S, type Sample } from './samples.ts';

test.beforeAll(({ pool }) => migrateOperations(pool));

const NOON_MS = Date.parse('2026-11-21T12:00:00Z');
const at = (beats: number) => new Date(NOON_MS + beats * SAMPLE_EVERY_S * 1_000);
const sample = (beats: number, more: Partial<Sample> = {}): Sample => ({
  ...{
    at: at(beats),
    events: beats,
    followers: { projector: 0 },
    parked: 0,
    due: 0,
    dead: 0,
    deliveredPerSecond: 1,
  },
  ...more,
});

test('too many samples for a plot are merged: the worst of gauges, the last of counters', async ({
  pool,
}) => {
  const day = 8_640;
  await keepSample(pool, sample(0));
  // Adds all others at once, which is not tested here.
  await pool.query(
    `insert into operations.sample select at + n * interval '${SAMPLE_EVERY_S} seconds', measured || json_build_object('events', n)::jsonb
     from operations.sample, generate_series(1, ${day - 2}) n`,
  );
  await keepSample(
    pool,
    sample(day - 1, { followers: { projector: 7, chain: null }, parked: 2, deliveredPerSecond: 13 }),
  );
  const { everySeconds, samples } = await readSamples(pool, undefined);
  expect(everySeconds).toBe(120);
  expect(samples.length).toBeLessThanOrEqual(POINTS_MAX);
  expect(samples.at(-1)).toEqual({
    ...{
      at: at(day - 1),
      events: day - 1,
      followers: { projector: 7, chain: null },
      parked: 2,
      due: 0,
      dead: 0,
      deliveredPerSecond: 2,
    },
  });
  // A later request for newer samples returns them as they were recorded.
  expect(await readSamples(pool, at(day - 3))).toMatchObject({
    everySeconds: 10,
    samples: [{ at: at(day - 2) }, { at: at(day - 1) }],
  });
});

test('after a day they are deleted', async ({ pool }) => {
  await keepSample(pool, sample(8_641));
  const { rows } = await pool.query<{ first: Date }>('select min(at) as first from operations.sample');
  expect(rows[0]?.first).toEqual(at(1));
});
