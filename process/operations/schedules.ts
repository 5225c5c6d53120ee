import type { Actor } from '#kernel/base/events/metadata.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { ScheduleStatus } from '#shared/rest/operator.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

/** A schedule of the domain, with its latest run. */
export type ListedSchedule = {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly nextAt: Date | null;
  /** The latest time that was skipped. */
  readonly missedAt: Date | null;
  readonly lastAt: Date | null;
  /** Null before the first run. */
  readonly state: ScheduleStatus['state'];
  readonly commands: number;
  /** Commands of the latest run that failed, and why one of them did. */
  readonly failed: number;
  readonly reason: string | null;
  /** The operator who had the latest run made beside its times. */
  readonly requestedBy: Actor | null;
};

const KEY = /^[a-z0-9-]{1,100}$/;

/** By name. A process of the former release may not have added the column of who requested a run. */
export const readSchedules = async (
  pool: Pick<Pool, 'query'>,
  { after, before, isBackward, rowsMax }: Stretch<string>,
): Promise<readonly ListedSchedule[]> => {
  if (!(await isThere(pool))) return [];
  const edge = after ?? before;
  if (edge !== undefined && !KEY.test(edge)) throw new HttpProblem('unknown_cursor');
  const isBeyond = edge === undefined ? 'true' : `name ${after === undefined ? '<' : '>'} $2`;
  const { rows } = await pool.query<ListedSchedule>(
    `select s.name, s.timing::json->>0 as cron, s.timing::json->>1 as "timeZone", s.next_at as "nextAt", s.missed_at as "missedAt",
       r.time_at as "lastAt", to_jsonb(r)->>'requested_by' as "requestedBy", coalesce(r.commands, 0)::int as commands, coalesce(t.failed, 0)::int as failed, t.reason,
       case when r.number is null then null
         when not r.is_noted or t.waiting > 0 then 'running'
         when t.retried > 0 then 'retrying'
         when t.failed > 0 then 'failed' else 'done' end as state
     from (select * from process_manager.schedule where ${isBeyond} order by name ${isBackward ? 'desc' : 'asc'} limit $1) s
     left join lateral (
       select * from process_manager.schedule_run where schedule = s.name order by number desc limit 1) r on true
     left join lateral (
       select count(*) filter (where attempts = 0) as waiting, count(*) filter (where attempts > 0) as failed,
         count(*) filter (where attempts > 0 and skipped_at is null) as retried, min(reason) as reason
       from process_manager.task where cause_id = r.cause_id and name like 'schedule %') t on true
     order by s.name ${isBackward ? 'desc' : 'asc'}`,
    [rowsMax, ...(edge === undefined ? [] : [edge])],
  );
  return rows;
};

type RunRequest = {
  readonly name: string;
  readonly by: Actor;
  readonly aheadMs: number;
};

/** Makes the leader run a schedule now, beside its times. Returns whether it is declared. */
export const requestRun = async (
  pool: Pick<Pool, 'query'>,
  { name, by, aheadMs }: RunRequest,
): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `update process_manager.schedule set wake_at = clock_timestamp(),
       requested_at = clock_timestamp() + $2::float8 * interval '1 millisecond', requested_by = $3 where name = $1`,
    [name, aheadMs, by],
  );
  return rowCount === 1;
};

/** The command role creates the table, and may never have run. */
const isThere = async (pool: Pick<Pool, 'query'>): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('process_manager.schedule') is not null as "isThere"`,
  );
  return rows[0]?.isThere ?? false;
};
