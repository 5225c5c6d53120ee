import { expect } from 'vitest';
import type { Pool } from '#shared/database/pool.ts';
import { test as base } from '../../../test/engines/authentic-log.ts';
import { createTestClock } from '../../../test/engines/test-clock.ts';
import { macsIn } from './macs-in.ts';

const EVENTS = 50_000;
const READ_AT_ONCE_MAX = 20_000;

type Plan = { 'Actual Rows': number; 'Rows Removed by Filter'?: number; Plans?: readonly Plan[] };

/** The rows that the scans of a statement have read. */
const rowsOf = (plan: Plan): number =>
  plan.Plans === undefined
    ? plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)
    : plan.Plans.map(rowsOf).reduce((sum, rows) => sum + rows, 0);

/** Notes how many rows each statement reads. */
const countingRows = (pool: Pool) => {
  const counts: number[] = [];
  const counting = {
    async query(text: string, values: readonly unknown[] = []) {
      const { rows } = await pool.query(`explain (analyze, format json) ${text}`, [...values]);
      counts.push(rowsOf(rows[0]['QUERY PLAN'][0].Plan));
      return pool.query(text, [...values]);
    },
  };
  return { pool: counting as unknown as Pool, counts };
};

/** A log of an earlier release, with many events. */
const test = base.extend('log', async ({ place }, { onCleanup }) => {
  const former = await place.openFormer();
  onCleanup(() => former[Symbol.asyncDispose]());
  await place.pool.query(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select n, 'thing-' || n, 1, gen_random_uuid(), 'thing.noted', '{}', '{}', 4 from generate_series(1, ${EVENTS}) n`,
  );
  await place.pool.query('analyze event_log.event');
  const { pool, counts } = countingRows(place.pool);
  return { counts, macs: macsIn(pool, createTestClock()) };
});

test('no statement reads the whole log to find that no event has a MAC', async ({ log }) => {
  expect(await log.macs.hasMacs()).toBe(false);
  expect(Math.max(...log.counts)).toBeLessThanOrEqual(READ_AT_ONCE_MAX);
});

test('a MAC is found wherever it is', async ({ log, place }) => {
  for (const position of [1, EVENTS]) {
    await place.tamper(`update event_log.event set mac = '\\x00' where position = $1`, [position]);
    expect(await log.macs.hasMacs()).toBe(true);
    await place.tamper('update event_log.event set mac = null where position = $1', [position]);
  }
});
