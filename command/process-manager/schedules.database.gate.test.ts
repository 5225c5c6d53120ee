// Over 200 lines, because all cases move the clock of the two processes that are set up here.
import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { schedulesOf, timesOf } from '#kernel/decide/schedules.ts';
import type { Domain, Kind, ScheduleInfo } from '#kernel/registry/registry.ts';
import { type ListedTask, readConsequences } from '#process/operations/consequences.ts';
import { readSchedules, requestRun } from '#process/operations/schedules.ts';
import { realTimeAhead } from '#shared/clock/real-time.ts';
import { by, type CommandSide, system } from '../../test/engines/command-side.ts';
import { test as base } from '../../test/engines/processes.ts';
import { reports } from '../../test/toy/reports.ts';
import { until } from '../../testing/until.ts';
import { timesToRun } from './schedules.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const [NIGHTLY, MONDAY] = ['nightly-report', 'monday-reminder'];

const ALL = { after: undefined, before: undefined, isBackward: false, rowsMax: 100 };

let aheadMs = 0;
const clock = realTimeAhead(() => aheadMs);
const setClock = (toMs: number): void => {
  aheadMs = Math.round(toMs - Date.now());
};
const test = base.extend('sideOptions', { scope: 'file' }, { domain: reports, clock } as { domain: Domain });

const timesIn = (domain: Domain, name: string) => {
  const found = schedulesOf(domain).find(({ schedule }) => schedule.name === name);
  if (found === undefined) throw new Error(name);
  return timesOf(found.schedule);
};
const nextOf = (name: string, afterMs = clock.nowMs()): number =>
  timesIn(reports, name).next(afterMs) ?? Number.NaN;

const begun = ({ pool }: CommandSide, name: string) =>
  until(
    async () => (await pool.query('select from process_manager.schedule where name = $1', [name])).rowCount,
    (count) => count === 1,
  );
const runsOf = async ({ pool }: CommandSide, name: string): Promise<readonly number[]> =>
  (
    await pool.query<{ ms: number }>(
      `select (extract(epoch from time_at) * 1000)::float8 as ms from process_manager.schedule_run where schedule = $1 order by time_at`,
      [name],
    )
  ).rows.map(({ ms }) => ms);
const openedOn = async (side: CommandSide, timeMs: number) => {
  const { rows } = await side.pool.query<{ stream: StreamName }>(
    `select distinct stream from event_log.event where type = 'report.opened' and metadata->>'request' in (
       select cause_id::text from process_manager.schedule_run where time_at = $1)`,
    [new Date(timeMs)],
  );
  return rows.map(({ stream }) => stream);
};
const listed = async ({ pool }: CommandSide, name: string) =>
  (await readSchedules(pool, ALL)).find((each) => each.name === name);
const settled = (side: CommandSide) =>
  until(
    async () =>
      (
        await side.pool.query<{ count: number }>(
          `select (select count(*) from process_manager.task where skipped_at is null and attempts = 0)::int
             + (select count(*) from process_manager.schedule_run where not is_noted)::int
             + (select count(*) from process_manager.schedule where wake_at <= clock_timestamp() + $1 * interval '1 millisecond')::int as count`,
          [aheadMs],
        )
      ).rows[0]?.count,
    (count) => count === 0,
  );

test('a command is sent once at its time, by one of two processes, and the schedule is its author', async ({
  side,
  other,
}) => {
  expect(other).toBeDefined();
  await begun(side, NIGHTLY);
  const timeMs = nextOf(NIGHTLY);
  setClock(timeMs - MINUTE);
  await settled(side);
  expect(await runsOf(side, NIGHTLY)).toEqual([]);
  setClock(timeMs + 1_000);
  const streams = await until(
    () => openedOn(side, timeMs),
    (found) => found.length > 0,
  );
  await settled(side);
  expect(await runsOf(side, NIGHTLY)).toEqual([timeMs]);
  expect(await openedOn(side, timeMs)).toEqual(streams);
  const events = (await Array.fromAsync(side.eventLog.read(streams[0] as StreamName))).flat();
  expect(events).toHaveLength(1);
  expect(events[0]?.metadata).toMatchObject({ actor: 'system:schedule-nightly-report', $causationId: null });
  const day = new Date(timeMs).toLocaleDateString('sv', { timeZone: 'Europe/Berlin' });
  expect(events[0]?.data).toMatchObject({ day, title: `Report of ${day}` });
});

test('a clock that is set back repeats no time, and the times after it still run', async ({ side }) => {
  const timeMs = nextOf(NIGHTLY);
  setClock(timeMs + MINUTE);
  await until(
    () => openedOn(side, timeMs),
    (found) => found.length === 1,
  );
  await settled(side);
  const before = await runsOf(side, NIGHTLY);
  setClock(timeMs - 2 * DAY);
  await until(
    async () =>
      (
        await side.pool.query<{ isBack: boolean }>(
          `select after_at < $1 as "isBack" from process_manager.schedule where name = $2`,
          [new Date(timeMs - DAY), NIGHTLY],
        )
      ).rows[0]?.isBack,
    (isBack) => isBack === true,
  );
  setClock(timeMs + 2 * MINUTE);
  await settled(side);
  // Also those between which had run before.
  expect(await runsOf(side, NIGHTLY)).toEqual(before);
  expect(await openedOn(side, timeMs)).toHaveLength(1);
});

test('missed times are caught up to their bound, and skipped ones are not', async ({ side }) => {
  await settled(side);
  const [nightly, monday] = [await runsOf(side, NIGHTLY), await runsOf(side, MONDAY)];
  const mondayMs = nextOf(MONDAY, nextOf(MONDAY));
  setClock(mondayMs + 30 * MINUTE);
  await until(
    () => runsOf(side, NIGHTLY),
    (runs) => runs.length === nightly.length + 3,
  );
  await settled(side);
  const latest = timesIn(reports, NIGHTLY).latest(clock.nowMs(), 3).toReversed();
  expect((await runsOf(side, NIGHTLY)).slice(-3)).toEqual(latest);
  for (const timeMs of latest) expect(await openedOn(side, timeMs)).toHaveLength(1);
  expect(await runsOf(side, MONDAY)).toEqual(monday);
  const { rows } = await side.pool.query<{ missedMs: number }>(
    `select (extract(epoch from missed_at) * 1000)::float8 as "missedMs" from process_manager.schedule where name = $1`,
    [MONDAY],
  );
  expect(rows).toEqual([{ missedMs: mondayMs }]);
});

const addTask = async (side: CommandSide, subject: string): Promise<number> =>
  (await side.send({ type: 'AddTask', subject } as Command as never, by(system))).id;
const typesOf = async (side: CommandSide, id: number) =>
  (await Array.fromAsync(side.eventLog.read(`task-${id}` as StreamName))).flat().map(({ type }) => type);

test('a command is sent to each aggregate that the condition selects', async ({ side, projector }) => {
  const [open, done] = [await addTask(side, 'open'), await addTask(side, 'done')];
  await side.send({ type: 'FinishTask', taskId: done } as Command as never, by(system));
  // The read model lags until then: the run waits.
  await projector.stop();
  const late = await addTask(side, 'late');
  setClock(nextOf(MONDAY) + MINUTE);
  await until(
    () => runsOf(side, MONDAY),
    (runs) => runs.length === 1,
  );
  expect(await typesOf(side, open)).toEqual(['task.added']);
  await projector.start();
  await until(
    () => typesOf(side, late),
    (types) => types.length > 1,
  );
  await settled(side);
  expect(await typesOf(side, open)).toEqual(['task.added', 'task.reminded']);
  expect(await typesOf(side, late)).toEqual(['task.added', 'task.reminded']);
  expect(await typesOf(side, done)).toEqual(['task.added', 'task.finished']);
});

test('a lost table repeats nothing that is in the log', async ({ side }) => {
  await settled(side);
  const timeMs = nextOf(NIGHTLY);
  setClock(timeMs + 1_000);
  await until(
    () => openedOn(side, timeMs),
    (found) => found.length === 1,
  );
  await settled(side);
  // As a restored database that is older than the log.
  await side.pool.query(`update process_manager.schedule set after_at = $1, wake_at = $1 where name = $2`, [
    new Date(timeMs - MINUTE),
    NIGHTLY,
  ]);
  await side.pool.query('delete from process_manager.schedule_run where schedule = $1 and time_at = $2', [
    NIGHTLY,
    new Date(timeMs),
  ]);
  await until(
    () => runsOf(side, NIGHTLY),
    (runs) => runs.includes(timeMs),
  );
  await settled(side);
  expect(await openedOn(side, timeMs)).toHaveLength(1);
  const [stream] = await openedOn(side, timeMs);
  expect((await Array.fromAsync(side.eventLog.read(stream as StreamName))).flat()).toHaveLength(1);
});

test('a refused command is parked with its reason, retried, and skipped after its last attempt', async ({
  side,
}) => {
  const timeMs = nextOf(NIGHTLY);
  const day = new Date(timeMs).toLocaleDateString('sv', { timeZone: 'Europe/Berlin' });
  await side.send({ type: 'OpenReport', day, title: `Report of ${day}` } as never, by(system));
  setClock(timeMs + 1_000);
  const parked = (is: (task: ListedTask) => boolean) =>
    until(
      async () => (await readConsequences(side.pool, ALL)).find(({ name }) => name === `schedule ${NIGHTLY}`),
      (task) => task !== undefined && is(task),
    );
  const task = await parked(({ attempts }) => attempts > 0);
  expect(task).toMatchObject({ task: 'run', skippedAt: null, reason: expect.stringMatching(/taken|title/i) });
  expect(await openedOn(side, timeMs)).toEqual([]);
  expect(await listed(side, NIGHTLY)).toMatchObject({
    state: 'retrying',
    commands: 1,
    failed: 1,
    reason: task?.reason,
  });
  await side.pool.query(
    `update process_manager.task set attempts = 19, next_at = clock_timestamp() where name = $1`,
    [`schedule ${NIGHTLY}`],
  );
  await parked(({ skippedAt }) => skippedAt !== null);
  expect(await listed(side, NIGHTLY)).toMatchObject({ state: 'failed', lastAt: new Date(timeMs) });
  // Later times do not wait.
  const laterMs = nextOf(NIGHTLY);
  setClock(laterMs + 1_000);
  await until(
    () => openedOn(side, laterMs),
    (found) => found.length === 1,
  );
});

test('a run whose commands could not be noted is noted later', async ({ side }) => {
  await settled(side);
  await side.pool.query(`create function public.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger refuse before insert on process_manager.task for each row execute function public.refuse()`);
  const timeMs = nextOf(NIGHTLY);
  setClock(timeMs + 1_000);
  await until(
    () => runsOf(side, NIGHTLY),
    (runs) => runs.includes(timeMs),
  );
  // The next leader finds it before the next time.
  const { rows } = await side.pool.query(
    'select from process_manager.schedule where name = $1 and wake_at < next_at',
    [NIGHTLY],
  );
  expect(rows).toHaveLength(1);
  expect(await openedOn(side, timeMs)).toEqual([]);
  await side.pool.query('drop function public.refuse cascade');
  setClock(clock.nowMs() + MINUTE);
  await until(
    () => openedOn(side, timeMs),
    (found) => found.length === 1,
  );
  await settled(side);
});

test('an operator runs a schedule now, beside its times', async ({ side, projector }) => {
  expect(projector).toBeDefined();
  await settled(side);
  const [id, before] = [await addTask(side, 'now'), await runsOf(side, MONDAY)];
  expect(await requestRun(side.pool, { name: MONDAY, by: 'user:1001', aheadMs })).toBe(true);
  await until(
    () => typesOf(side, id),
    (types) => types.length === 2,
  );
  await settled(side);
  expect(await runsOf(side, MONDAY)).toHaveLength(before.length + 1);
  expect(await listed(side, MONDAY)).toMatchObject({
    ...{ state: 'done', nextAt: new Date(nextOf(MONDAY)), requestedBy: 'user:1001' },
  });
  const { rows } = await side.pool.query<{ metadata: object }>(
    `select metadata from event_log.event where stream = $1 order by version desc limit 1`,
    [`task-${id}`],
  );
  expect(rows).toMatchObject([
    { metadata: { actor: 'system:schedule-monday-reminder', reason: 'Run now, by user:1001' } },
  ]);
  expect(await requestRun(side.pool, { name: 'unknown', by: 'user:1001', aheadMs })).toBe(false);
});

test('another expression counts from its declaration, and a removed schedule is forgotten', async ({
  database,
  side,
}) => {
  await settled(side);
  const { report, task } = reports.kinds as Record<string, Kind>;
  if (report === undefined || task === undefined) throw new Error('no kinds');
  const nightly = { ...report.schedules[NIGHTLY], cron: '0 5 * * *' } as ScheduleInfo;
  const changed: Domain = {
    ...reports,
    kinds: {
      ...reports.kinds,
      report: { ...report, schedules: { [NIGHTLY]: nightly } },
      task: { ...task, schedules: {} },
    },
  };
  const [formerMs, before] = [nextOf(NIGHTLY), await runsOf(side, NIGHTLY)];
  setClock(formerMs - MINUTE);
  await using next = await database.open({ domain: changed, clock });
  await until(
    () => listed(next, NIGHTLY),
    (schedule) => schedule?.cron === '0 5 * * *',
  );
  expect(await listed(next, MONDAY)).toBeUndefined();
  const timeMs = timesIn(changed, NIGHTLY).next(clock.nowMs()) ?? Number.NaN;
  setClock(timeMs + 1_000);
  await until(
    () => openedOn(next, timeMs),
    (found) => found.length === 1,
  );
  await settled(next);
  expect(await runsOf(next, NIGHTLY)).toEqual([...before, timeMs]);
});

test('of the times that have come, only the latest run', () => {
  const [schedule] = schedulesOf(reports).map((each) => ({ ...each, times: timesOf(each.schedule) }));
  if (schedule === undefined) throw new Error('no schedule');
  const of = (caughtUpMax: number, cron: string, untilMs: number) => {
    const given = { ...schedule.schedule, cron, timeZone: 'UTC', caughtUpMax };
    return timesToRun({ schedule: given, times: timesOf(given) }, 0, untilMs);
  };
  expect(of(0, '* * * * *', 10 * MINUTE + 5)).toEqual({ runs: [10 * MINUTE], missedMs: 9 * MINUTE });
  expect(of(0, '0 * * * *', 66 * MINUTE)).toEqual({ runs: [], missedMs: 60 * MINUTE });
  expect(of(2, '0 * * * *', 200 * MINUTE)).toEqual({
    runs: [120 * MINUTE, 180 * MINUTE],
    missedMs: 60 * MINUTE,
  });
  expect(of(9, '0 * * * *', 200 * MINUTE)).toEqual({
    ...{ runs: [60 * MINUTE, 120 * MINUTE, 180 * MINUTE], missedMs: undefined },
  });
});
