import { expect } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { test as base } from '../../test/engines/processes.ts';
import { budgets } from '../../test/toy/budgets.ts';
import { until } from '../../testing/until.ts';
import type { Fence } from './fence.ts';
import { dueOf } from './parked.ts';
import { inTurn, nextTasks, START } from './tasks.ts';
import { createLook } from './timers.ts';

const test = base
  .extend('pool', { scope: 'file' }, ({ database }, { onCleanup }) => {
    const url = database.settings.DATABASE_URL ?? '';
    const pool = openPool({ url, applicationName: 'test', connectionsMax: 2 });
    onCleanup(() => pool[Symbol.asyncDispose]());
    return pool;
  })
  /** The fence of a process that no longer runs, so that nobody else polls. */
  .extend('fence', { scope: 'file' }, async ({ database, pool }) => {
    await using _side = await database.open({ domain: budgets });
    const { rows } = await until(
      () =>
        pool.query<Fence>(
          `select fingerprint, epoch from process_manager.reacting, public.lease where name = 'process-manager-parked' and epoch > 0`,
        ),
      ({ rowCount }) => rowCount === 1,
    );
    return rows[0] as Fence;
  })
  .extend('polls', { scope: 'file' }, ({ fence, pool }) => {
    /** The result of a poll, and the number of rows that its single statement reads. */
    const looking = async <Found>(
      look: (pool: Pool) => Promise<Found>,
    ): Promise<{ found: Found; rowsRead: number }> => {
      await pool.query('analyze process_manager.task, process_manager.parked, process_manager.timer');
      const asked: [string, unknown[]][] = [];
      const query = (text: string, values: unknown[] = []) => {
        asked.push([text, values]);
        return pool.query(text, values);
      };
      const found = await look({ query } as never);
      expect(asked).toHaveLength(1);
      const [[text, values] = ['', []]] = asked;
      const { rows } = await pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `explain (analyze, format json) ${text}`,
        values,
      );
      return { found, rowsRead: rowsRead(rows[0]?.['QUERY PLAN'][0].Plan ?? {}) };
    };
    const streamsNext = async (of: Pool) =>
      (await nextTasks(of, fence, START)).tasks.map(({ stream, name }) => `${stream} ${name}`);
    return { looking, streamsNext };
  });
test.beforeEach(({ fence: _started, pool }) =>
  pool.query(
    'truncate process_manager.task, process_manager.parked, process_manager.timer, process_manager.timer_mark',
  ),
);

const MANY = 3_000;
/** Each row counts once for each part of the plan that it passes. */
const A_FEW = 200;

type Plan = { readonly Plans?: readonly Plan[] } & Readonly<Record<string, number>>;
const REMOVED = ['Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck'];
const rowsRead = (plan: Plan): number =>
  ['Actual Rows', ...REMOVED].reduce((sum, name) => sum + (plan[name] ?? 0), 0) *
    (plan['Actual Loops'] ?? 1) +
  (plan.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), 0);

const LATER = `clock_timestamp() + interval '4 minutes'`;

test('a poll does not read the queue behind a parked task, which continues after it', async ({
  polls: { looking, streamsNext },
  pool,
}) => {
  await pool.query(
    `insert into process_manager.task (task, stream, name, cause_id, cause_metadata, attempts, next_at)
     select 'react', 'claim-7', n::text, gen_random_uuid(), '{}', case n when 1 then 1 else 0 end, case n when 1 then ${LATER} end
     from generate_series(1, ${MANY}) with ordinality as t (n, place) order by place`,
  );
  const parked = await looking(streamsNext);
  expect(parked.found).toEqual([]);
  await pool.query(`update process_manager.task set next_at = clock_timestamp() where name = '1'`);
  const due = await looking(streamsNext);
  expect(due.found).toEqual(['claim-7 1']);
  await pool.query(`update process_manager.task set skipped_at = clock_timestamp() where name = '1'`);
  const behind = await looking(streamsNext);
  expect(behind.found).toEqual(['claim-7 2']);
  for (const each of [parked, due, behind]) expect(each.rowsRead).toBeLessThan(A_FEW);
});

test('a task that is delayed longer than any pause is due at once', async ({
  polls: { streamsNext },
  pool,
}) => {
  await pool.query(
    `insert into process_manager.task (task, stream, name, cause_id, cause_metadata, attempts, next_at)
     values ('react', 'claim-7', 'approved', gen_random_uuid(), '{}', 1, clock_timestamp() + interval '1 hour')`,
  );
  expect(await streamsNext(pool)).toEqual(['claim-7 approved']);
});

test('a poll reads only parked aggregates that are due, however many there are', async ({
  polls: { looking, streamsNext },
  pool,
}) => {
  await pool.query(
    `insert into process_manager.task (task, stream, name, cause_id, cause_metadata, attempts, next_at)
     select 'react', 'claim-' || n, 'approved', gen_random_uuid(), '{}', 1, ${LATER} from generate_series(1, ${MANY}) n`,
  );
  const none = await looking(streamsNext);
  expect(none.found).toEqual([]);
  await pool.query(`update process_manager.task set next_at = clock_timestamp() where stream = 'claim-77'`);
  const one = await looking(streamsNext);
  expect(one.found).toEqual(['claim-77 approved']);
  for (const each of [none, one]) expect(each.rowsRead).toBeLessThan(A_FEW);
});

test('aggregates with tasks take turns, also beside retried ones', async ({ fence, pool }) => {
  await pool.query(
    `insert into process_manager.task (task, stream, name, cause_id, cause_metadata, next_at)
     select 'react', 'claim-' || n, 'approved', gen_random_uuid(), '{}', case when n > 250 then clock_timestamp() end from generate_series(1, 260) n`,
  );
  const next = inTurn(pool, fence);
  const taken: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const { tasks, isLast } = await next();
    expect(isLast).toBe(false);
    taken.push(...tasks.map(({ stream }) => stream));
    await pool.query('delete from process_manager.task where next_at is not null');
  }
  // Tasks of a cause come beside the aggregates in order, and were not done in between.
  expect([...new Set(taken)].toSorted()).toEqual(
    Array.from({ length: 260 }, (_, n) => `claim-${n + 1}`).toSorted(),
  );
  await pool.query('truncate process_manager.task');
  expect(await next()).toEqual({ tasks: [], isLast: true });
});

test('a poll reads only parked consequences that are due, however many there are', async ({
  polls: { looking },
  pool,
}) => {
  await pool.query(
    `insert into process_manager.parked (task, stream, cause_id, cause_metadata, reason, next_at)
     select 'end', 'claim-' || n, gen_random_uuid(), '{}', '', case n when 7 then clock_timestamp() when 8 then clock_timestamp() + interval '1 hour' else ${LATER} end
     from generate_series(1, ${MANY}) n`,
  );
  const { found, rowsRead } = await looking(dueOf);
  expect(found.map(({ stream }) => stream)).toEqual(['claim-7', 'claim-8']);
  expect(rowsRead).toBeLessThan(A_FEW);
});

test('a poll reads only timers that have run out, however many there are', async ({
  fence,
  polls: { looking },
  pool,
}) => {
  await pool.query(
    `insert into process_manager.timer (stream, name, cause_id, cause_metadata, due_at)
     select 'claim-' || n, 'remind', gen_random_uuid(), '{}', ${LATER} from generate_series(1, ${MANY}) n`,
  );
  const { found, rowsRead } = await looking((of) =>
    createLook({ pool: of, domain: budgets, clock: REAL_TIME } as never).atAll(fence),
  );
  expect(found).toBe(false);
  expect(rowsRead).toBeLessThan(A_FEW);
});
