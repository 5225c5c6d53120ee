// Over 200 lines, because it is one thing: which times of a schedule have come, and which commands follow from one.
import { v5 } from 'uuid';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { Actor, MetadataContext } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { resolve } from '#kernel/conditions/expression.ts';
import { conditionSql } from '#kernel/conditions/sql.ts';
import { type DeclaredSchedule, type ScheduleTimes, schedulesOf, timesOf } from '#kernel/decide/schedules.ts';
import type { Domain, ScheduleInfo } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { CONDITION_AS_TEXT } from '#shared/database/condition-text.ts';
import { isPassing, isUndefinedTable } from '#shared/database/failures.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { LASTING } from '#shared/follower/pass.ts';
import { CELLS, EPOCH_MS, PER_MS } from '#shared/id-time.ts';
import type { Log } from '#shared/log.ts';
import { demandFence, type Fence, Overtaken } from './fence.ts';
import type { Cause } from './steps.ts';
import { addTasks, isScheduleDue, type ReactionTask, scheduleTask } from './tasks.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'head' | 'identity'>;
  readonly log: Log;
  readonly clock: Clock;
  readonly cell?: number | undefined;
};

export type Scheduling = {
  /** Notes the tasks of all times that have come. Returns whether there may be more. */
  atAll(fence: Fence): Promise<boolean>;
};

/** A skipped time is one that no process could run for so long, such as during a restart. */
const LATE_MAX_MS = 5 * 60_000;
const NOTED_AT_ONCE = 1_000;
/** How long a run waits for the read model before it looks again, and after a failure. */
const LAG_PAUSE_MS = 500;
const FAILURE_PAUSE_MS = 10_000;
const RUNS_KEPT = 1_000;

type Timed = DeclaredSchedule & { readonly times: ScheduleTimes };
type Parts = Dependencies & {
  readonly schedules: ReadonlyMap<string, Timed>;
  /** The end of the log when this leader saw a run first: the read model must have reached it. */
  readonly heads: Map<EventId, Position>;
};

/** Undefined for a domain without schedules. */
export const createScheduling = (dependencies: Dependencies): Scheduling | undefined => {
  const declared = schedulesOf(dependencies.domain);
  if (declared.length === 0) return undefined;
  const schedules = new Map(
    declared.map((each) => [each.schedule.name, { ...each, times: timesOf(each.schedule) }]),
  );
  const parts: Parts = { ...dependencies, schedules, heads: new Map() };
  let declaredUnder: number | undefined;
  return {
    async atAll(fence) {
      if (declaredUnder !== fence.epoch) await declareAll(parts, fence);
      declaredUnder = fence.epoch;
      const due = await readDue(parts);
      for (const name of due) await look(parts, name, fence);
      return due.length > 0;
    },
  };
};

/** The clock of the database counts, so that all processes agree. */
const NOW = `(statement_timestamp() + $1::float8 * interval '1 millisecond')`;
const NOW_MS = `(extract(epoch from ${NOW}) * 1000)::float8`;
const isoOf = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();
const timingOf = ({ cron, timeZone }: ScheduleInfo): string => JSON.stringify([cron, timeZone]);

/** A schedule begins when it is declared, also by another expression; one that is no longer declared is forgotten. */
const declareAll = async ({ pool, clock, schedules }: Parts, fence: Fence): Promise<void> => {
  await inTransaction(
    pool,
    async (connection) => {
      await demandFence(connection, fence, 'for share');
      const nowMs = await readNow(connection, clock);
      await connection.query('delete from process_manager.schedule where not name = any($1)', [
        [...schedules.keys()],
      ]);
      await connection.query('delete from process_manager.schedule_run where not schedule = any($1)', [
        [...schedules.keys()],
      ]);
      for (const [name, { schedule, times }] of schedules) {
        const next = isoOf(times.next(nowMs));
        await connection.query(
          `insert into process_manager.schedule as known (name, timing, after_at, next_at, wake_at) values ($1, $2, $3, $4, $4)
           on conflict (name) do update set timing = $2, after_at = $3, next_at = $4,
             wake_at = least($4, known.requested_at, case when exists (
               select from process_manager.schedule_run r where r.schedule = $1 and not is_noted) then $3::timestamptz end)
           where known.timing <> $2`,
          [name, timingOf(schedule), isoOf(nowMs), next],
        );
      }
    },
    LASTING,
  );
};

const readNow = async (connection: Pick<Connection, 'query'>, clock: Clock): Promise<number> => {
  const { rows } = await connection.query<{ nowMs: number }>(`select ${NOW_MS} as "nowMs"`, [
    clock.aheadMs(),
  ]);
  return rows[0]?.nowMs ?? Number.NaN;
};

/** Also those whose next time is further ahead than when it was noted: since then, the clock was set back. */
const readDue = async ({ pool, clock }: Parts): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select name from process_manager.schedule where ${isScheduleDue(NOW)} order by name`,
    [clock.aheadMs()],
  );
  return rows.map(({ name }) => name);
};

const look = async (parts: Parts, name: string, fence: Fence): Promise<void> => {
  try {
    await begin(parts, name, fence);
    await noteAll(parts, name, fence);
  } catch (err) {
    if (err instanceof Overtaken || isPassing(err) || err instanceof LogUnavailable) throw err;
    parts.log.error({ err, schedule: name }, 'A schedule could not run; it is retried.');
    await pause(parts, name, FAILURE_PAUSE_MS);
  }
};

const pause = async ({ pool, clock }: Parts, name: string, ms: number): Promise<void> => {
  await pool.query(
    `update process_manager.schedule set wake_at = ${NOW} + $2::float8 * interval '1 millisecond' where name = $3`,
    [clock.aheadMs(), ms, name],
  );
};

/** Until its next time, or a request. */
const sleep = async (pool: Pool, name: string): Promise<void> => {
  await pool.query(
    'update process_manager.schedule set wake_at = next_at where name = $1 and requested_at is null',
    [name],
  );
};

type Row = {
  readonly afterMs: number;
  readonly nowMs: number;
  readonly requestedMs: number | null;
  readonly requestedBy: Actor | null;
};

/** Records the runs of the times that have come. A run is recorded once, wherever the clocks are set. */
const begin = async (parts: Parts, name: string, fence: Fence): Promise<void> => {
  const { pool, clock, log, schedules, cell } = parts;
  const timed = schedules.get(name);
  if (timed === undefined) return;
  const missed = await inTransaction(
    pool,
    async (connection) => {
      await demandFence(connection, fence, 'for share');
      const { rows } = await connection.query<Row>(
        `select (extract(epoch from after_at) * 1000)::float8 as "afterMs", ${NOW_MS} as "nowMs",
           (extract(epoch from requested_at) * 1000)::float8 as "requestedMs", requested_by as "requestedBy"
         from process_manager.schedule where name = $2 for update`,
        [clock.aheadMs(), name],
      );
      const [row] = rows;
      if (row === undefined) return;
      const { nowMs, requestedMs, requestedBy } = row;
      const { runs, missedMs } = timesToRun(timed, Math.min(row.afterMs, nowMs), nowMs);
      const all = [...runs, ...(requestedMs === null ? [] : [Math.floor(requestedMs)])];
      await connection.query(
        `insert into process_manager.schedule_run (schedule, time_at, is_requested, cause_id, requested_by)
         select $1, time_at, is_requested, cause_id, case when is_requested then $5::text end from unnest($2::timestamptz[], $3::boolean[], $4::uuid[])
           with ordinality as t (time_at, is_requested, cause_id, place) order by place
         on conflict do nothing`,
        [
          name,
          all.map(isoOf),
          all.map((_, index) => index >= runs.length),
          all.map((timeMs) => causeIdOf(name, timeMs, cell)),
          requestedBy,
        ],
      );
      const next = isoOf(timed.times.next(nowMs));
      await connection.query(
        `update process_manager.schedule set after_at = $2, next_at = $3, requested_at = null, requested_by = null,
           wake_at = case when ${HAS_MORE} then $2::timestamptz else $3::timestamptz end, missed_at = coalesce($4, missed_at) where name = $1`,
        [name, isoOf(nowMs), next, isoOf(missedMs)],
      );
      await connection.query(
        `delete from process_manager.schedule_run where schedule = $1 and is_noted and number < (
           select number from process_manager.schedule_run where schedule = $1 order by number desc offset ${RUNS_KEPT} limit 1)`,
        [name],
      );
      return missedMs;
    },
    LASTING,
  );
  if (missed !== undefined)
    log.warn({ schedule: name, latest: isoOf(missed) }, 'A schedule has skipped times that it missed.');
};

type ToRun = { readonly runs: readonly number[]; readonly missedMs: number | undefined };

/** The times after one and until another that run, the oldest first, and the latest that is skipped. */
export const timesToRun = (
  { schedule: { caughtUpMax }, times }: Pick<Timed, 'schedule' | 'times'>,
  afterMs: number,
  nowMs: number,
): ToRun => {
  // Times that are barely late count as in time: of these, too, only the latest runs.
  const max = Math.max(caughtUpMax, 1);
  const latest = times.latest(nowMs, max + 1).filter((timeMs) => timeMs > afterMs);
  const isKept = (timeMs: number, index: number): boolean =>
    index < max && (caughtUpMax > 0 || timeMs >= nowMs - LATE_MAX_MS);
  return {
    runs: latest.filter(isKept).toReversed(),
    missedMs: latest.find((timeMs, index) => !isKept(timeMs, index)),
  };
};

/** SQL that is true while a run of the schedule `$1` is to be noted: after a crash, the next leader goes on. */
const HAS_MORE = 'exists (select from process_manager.schedule_run where schedule = $1 and not is_noted)';

/** The same for the same time of a schedule, whoever runs it; cells have aggregates of their own. */
const causeIdOf = (name: string, timeMs: number, cell: number | undefined): EventId =>
  v5(`schedule ${name} ${isoOf(timeMs)} ${cell ?? ''}`, NAMESPACE) as EventId;
const NAMESPACE = '5f0d1c0e-6a0b-4c1f-9a39-0b5b6d1c7a52';

type Run = {
  readonly timeMs: number;
  readonly causeId: EventId;
  readonly afterId: number;
  readonly requestedBy: Actor | null;
};

/** Notes the commands of all recorded runs, the oldest first. */
const noteAll = async (parts: Parts, name: string, fence: Fence): Promise<void> => {
  const timed = parts.schedules.get(name);
  for (;;) {
    const { rows } = await parts.pool.query<Run>(
      `select (extract(epoch from time_at) * 1000)::float8 as "timeMs", cause_id as "causeId", after_id::float8 as "afterId", requested_by as "requestedBy"
       from process_manager.schedule_run where schedule = $1 and not is_noted order by number limit 1`,
      [name],
    );
    const [run] = rows;
    if (timed === undefined) return;
    if (run === undefined) return sleep(parts.pool, name);
    const noted =
      timed.kind.commands[timed.schedule.run]?.kind === 'create'
        ? { streams: [createdBy(parts, timed, run)], afterId: 0, isLast: true }
        : await selected(parts, timed, run);
    if (noted === undefined) return pause(parts, name, LAG_PAUSE_MS);
    await note(parts, { name, run, ...noted }, fence);
    // Other work has its turn between the pages of many aggregates.
    if (!noted.isLast) return pause(parts, name, 0);
    parts.heads.delete(run.causeId);
  }
};

type Noted = { readonly streams: readonly StreamName[]; readonly afterId: number; readonly isLast: boolean };

const note = async (
  { pool }: Parts,
  { name, run, streams, afterId, isLast }: Noted & { readonly name: string; readonly run: Run },
  fence: Fence,
): Promise<void> => {
  const cause = causeOf(name, run);
  await inTransaction(
    pool,
    async (connection) => {
      await demandFence(connection, fence, 'for share');
      const { rowCount } = await connection.query(
        `update process_manager.schedule_run set commands = commands + $3, after_id = $4, is_noted = $5
         where schedule = $1 and cause_id = $2 and after_id = $6 and not is_noted`,
        [name, run.causeId, streams.length, afterId, isLast, run.afterId],
      );
      if (rowCount === 0) return;
      await addTasks(
        connection,
        streams.map((stream): ReactionTask => ({ task: 'run', stream, name: scheduleTask(name), cause })),
      );
    },
    LASTING,
  );
};

/** The metadata of the events, but for their time. */
const causeOf = (name: string, { timeMs, causeId, requestedBy }: Run): Cause => {
  const metadata: MetadataContext = {
    at: new Date(timeMs).toISOString(),
    actor: `system:schedule-${name}` satisfies Actor,
    client: null,
    request: causeId,
    correlation: causeId,
    causation: null,
    // The schedule is the author in any case.
    ...(requestedBy !== null && { reason: `Run now, by ${requestedBy}` }),
  };
  return { id: causeId, metadata };
};

/** The id that a creation tries first, of the scheduled time. */
const createdBy = ({ cell = 0 }: Parts, { kind }: Timed, { timeMs, causeId }: Run): StreamName => {
  const random = Number.parseInt(causeId.slice(0, 8), 16) % (PER_MS / CELLS);
  return streamName(kind.name, Math.max(timeMs - EPOCH_MS, 1) * PER_MS + random * CELLS + cell);
};

/** The next aggregates to which the command is sent; undefined while the read model lags. */
const selected = async (parts: Parts, { kind, schedule }: Timed, run: Run): Promise<Noted | undefined> => {
  const { domain, pool, eventLog, heads } = parts;
  const head = heads.get(run.causeId) ?? (await eventLog.head());
  heads.set(run.causeId, head);
  const checkpoint = await readCheckpoint(pool, PROJECTOR);
  if (checkpoint?.log !== eventLog.identity || checkpoint.position < head) return undefined;
  const only =
    schedule.when === undefined
      ? 'true'
      : conditionSql(CONDITION_AS_TEXT, resolve(domain, kind, schedule.when), { domain, kind, row: 't' });
  const presence = staysWhenEnded(kind) ? 't.deleted_at is null' : 'true';
  const { rows } = await pool
    .query<{ id: number }>(
      `select t.id::float8 as id from ${LIVE_SCHEMA}.${kind.table} t
       where t.id > $1 and ${presence} and ${only} order by t.id limit ${NOTED_AT_ONCE}`,
      [run.afterId],
    )
    .catch((error: unknown) => {
      if (isUndefinedTable(error)) return { rows: undefined };
      throw error;
    });
  if (rows === undefined) return undefined;
  return {
    streams: rows.map(({ id }) => streamName(kind.name, id)),
    afterId: rows.at(-1)?.id ?? run.afterId,
    isLast: rows.length < NOTED_AT_ONCE,
  };
};
