import type { StreamName } from '#kernel/base/brands.ts';
import { idIn, kindIn } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { type DeclaredSchedule, schedulesOf } from '#kernel/decide/schedules.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, FIRST } from '#shared/event-log/event-log.ts';
import { timeOfId } from '#shared/id-time.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly domain: Domain;
};

type ScheduledTask = {
  readonly stream: StreamName;
  readonly name: string;
  readonly schedule: string;
  readonly causeId: string;
  readonly metadata: JsonObject;
  /** Of the run that it names as its cause; null if there is none. */
  readonly timeMs: number | null;
  readonly requestedBy: string | null;
  /** Of the oldest run of the schedule that is kept; null if there is none. */
  readonly oldestMs: number | null;
};

const TABLE = 'process_manager.task';
/** As the name of the task of a schedule begins; the name of a reaction by a field `schedule` has a dot. */
const PREFIX = 'schedule ';
const TASKS_MAX = 1_000;

/**
 * Tasks of schedules that no run of a schedule explains. Their metadata name the author of the events that follow,
 * so each of it is compared. A task of a schedule that is declared no longer has no effect.
 */
export const findExtraScheduled = async ({
  pool,
  eventLog,
  domain,
}: Dependencies): Promise<readonly DerivedFinding[]> => {
  const declared = new Map(schedulesOf(domain).map((each) => [each.schedule.name, each]));
  if (declared.size === 0) return [];
  const { rows } = await pool.query<ScheduledTask>(
    `select t.stream, t.name, substr(t.name, ${PREFIX.length + 1}) as schedule, t.cause_id as "causeId", t.cause_metadata as metadata,
       (extract(epoch from r.time_at) * 1000)::float8 as "timeMs", to_jsonb(r)->>'requested_by' as "requestedBy",
       (select (extract(epoch from o.time_at) * 1000)::float8 from process_manager.schedule_run o
         where o.schedule = substr(t.name, ${PREFIX.length + 1}) order by o.number limit 1) as "oldestMs"
     from process_manager.task t
     left join process_manager.schedule_run r on r.schedule = substr(t.name, ${PREFIX.length + 1}) and r.cause_id = t.cause_id
     where t.task = 'run' and t.name like '${PREFIX}%' and t.name not like '%.%' order by t.number limit ${TASKS_MAX}`,
  );
  const found: DerivedFinding[] = [];
  for (const task of rows) {
    const of = declared.get(task.schedule);
    if (of === undefined || (isExplained(task, of) && (await isThere(eventLog, task, of)))) continue;
    const key = `${task.stream} ${task.name}`;
    found.push({
      ...{ kind: 'derived_extra', table: TABLE, key, columns: [] },
      ...{ stream: null, version: null, position: null },
    });
  }
  return found;
};

const isExplained = (task: ScheduledTask, { kind }: DeclaredSchedule): boolean => {
  const { stream, schedule, causeId, metadata, timeMs, requestedBy, oldestMs } = task;
  const atMs = Date.parse(String(metadata.at));
  // A run is kept longer than the tasks of it are retried, but not for ever.
  const isOfRun = timeMs === null ? oldestMs !== null && atMs < oldestMs : atMs === Math.round(timeMs);
  const reason = metadata.reason ?? null;
  return (
    isOfRun &&
    kindIn(stream) === kind.name &&
    metadata.actor === `system:schedule-${schedule}` &&
    metadata.request === causeId &&
    metadata.correlation === causeId &&
    (metadata.causation ?? null) === null &&
    (metadata.client ?? null) === null &&
    (timeMs === null || (reason === null) === (requestedBy === null))
  );
};

/** An aggregate of the log; or one that a creation makes, whose id has the time of the run. */
const isThere = async (
  eventLog: Dependencies['eventLog'],
  { stream, metadata }: ScheduledTask,
  { kind, schedule }: DeclaredSchedule,
): Promise<boolean> => {
  if (kind.commands[schedule.run]?.kind === 'create')
    return timeOfId(idIn(stream)) === Date.parse(String(metadata.at));
  for await (const [first] of eventLog.read(stream, FIRST, FIRST)) if (first !== undefined) return true;
  return false;
};
