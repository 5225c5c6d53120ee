import { test as base, expect } from 'vitest';
import type { Pool } from '#shared/database/pool.ts';
import { createAuthenticPlace, ourEvent } from '../../../test/engines/authentic-log.ts';
import { inTheDatabase } from '../../../test/engines/log-engines.ts';
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

/** The state of all events of the log, except for one that a test has changed and changes back. */
type Former = 'no MAC' | 'a MAC, for half an hour' | 'a MAC, for two hours';
const SET: Readonly<Record<Former, string>> = {
  'no MAC': 'mac = null, recorded_at = now()',
  'a MAC, for half an hour': `mac = '\\x00', recorded_at = now() - interval '30 minutes'`,
  'a MAC, for two hours': `mac = '\\x00', recorded_at = now() - interval '2 hours'`,
};

/** A log with many events for the whole file, because to write them costs more than all tests. */
const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('place', { scope: 'file' }, async ({}, { onCleanup }) => {
    await using opening = new AsyncDisposableStack();
    const place = opening.use(await createAuthenticPlace(inTheDatabase));
    opening.use(await place.openFormer());
    await place.pool.query(
      `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
       select n, 'thing-' || n, 1, gen_random_uuid(), 'thing.noted', '{}', '{}', 4 from generate_series(1, ${EVENTS}) n`,
    );
    await place.pool.query('analyze event_log.event');
    const resources = opening.move();
    onCleanup(() => resources.disposeAsync());
    return place;
  })
  .extend('all', { scope: 'file' }, ({ place }) => {
    let all: Former = 'no MAC';
    return {
      async have(wanted: Former): Promise<void> {
        if (all !== wanted) await place.tamper(`update event_log.event set ${SET[wanted]}`);
        all = wanted;
      },
    };
  })
  .extend('log', ({ place }) => {
    const { pool, counts } = countingRows(place.pool);
    return { counts, macs: macsIn(pool, createTestClock()) };
  });

test('no statement reads the whole log to find that no event has a MAC', async ({ all, log }) => {
  await all.have('no MAC');
  expect(await log.macs.hasMacs()).toBe(false);
  expect(Math.max(...log.counts)).toBeLessThanOrEqual(READ_AT_ONCE_MAX);
});

test('a MAC is found wherever it is', async ({ all, log, place }) => {
  await all.have('no MAC');
  for (const position of [1, EVENTS]) {
    await place.tamper(`update event_log.event set mac = '\\x00' where position = $1`, [position]);
    expect(await log.macs.hasMacs()).toBe(true);
    await place.tamper('update event_log.event set mac = null where position = $1', [position]);
  }
});

const HOUR_MS = 3_600_000;
const OURS = JSON.stringify(ourEvent().metadata);

/** The newest events without MACs; all others are authentic, and as old as said. */
const cases: readonly (readonly [name: string, its: Partial<Look>])[] = [
  ['an event of ours is late', { is: true }],
  ['an event of ours is late, before 25,000 with MACs', { bareAt: 25_000, is: true }],
  ['an event of ours is an hour old', { bareAgo: '61 minutes' }],
  ['an event of ours has a time of 2099', { bareAgo: '-70 years' }],
  ['a record of somebody else is late', { metadata: '{"n":1}' }],
  ['a record of somebody else has a name that is no text', { metadata: '{"\\u0000":null}' }],
  ['a record of somebody else has metadata that is no object', { metadata: 'null' }],
];
type Look = { bareAt: number; bareAgo: string; metadata: string; is: boolean };

test.for(cases)('%s', async ([, its], { all, log, place }) => {
  const { bareAt = EVENTS, bareAgo = '59 minutes', metadata = OURS, is = false } = its;
  await all.have('a MAC, for half an hour');
  await place.tamper(
    'update event_log.event set mac = null, recorded_at = now() - $2::interval, metadata = $3 where position = $1',
    [bareAt, bareAgo, metadata],
  );
  const found = await log.macs.hasBareWithin(HOUR_MS);
  await place.tamper(
    `update event_log.event set ${SET['a MAC, for half an hour']}, metadata = '{}' where position = $1`,
    [bareAt],
  );
  expect(found).toBe(is);
});

test('what is older than an hour is not read', async ({ all, log }) => {
  await all.have('a MAC, for two hours');
  expect(await log.macs.hasBareWithin(HOUR_MS)).toBe(false);
  expect(log.counts).toEqual([READ_AT_ONCE_MAX]);
});
