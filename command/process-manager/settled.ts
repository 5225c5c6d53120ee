import { followingOf } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { poll } from '#shared/clock/poll.ts';
import type { Pool } from '#shared/database/pool.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { PROCESS_MANAGER, REACTIONS } from '#shared/process-manager/followers.ts';

type System = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'head'>;
  readonly domain: Domain;
  readonly clock: Clock;
};

type Options = {
  readonly waitMaxMs: number;
  /** Followers that must have reached the end of the log too. Schedules of items wait for the projector. */
  readonly followers?: readonly string[];
};

const LOOK_MS = 10;
const NAMED_MAX = 5;

/**
 * Waits until everything that follows from the events so far has happened, and no timer is due. Returns some of
 * what is still pending after the time; otherwise an empty list.
 */
export const untilSettled = async (
  system: System,
  { waitMaxMs, followers = [] }: Options,
): Promise<readonly string[]> => {
  const { pool, eventLog, domain, clock } = system;
  // Without timers and reactions, this follower does not run.
  const reacting = followingOf(domain) === undefined ? [] : [REACTIONS];
  let pending: readonly string[] = [];
  await poll({ clock, everyMs: LOOK_MS, withinMs: waitMaxMs }, async () => {
    const head = await eventLog.head();
    const { rows } = await pool.query<{ pending: string }>(PENDING, [
      [PROCESS_MANAGER, ...reacting, ...followers],
      head,
      clock.aheadMs(),
    ]);
    // An event that a timer has just appended must be followed too.
    const hasNew = rows.length === 0 && (await eventLog.head()) !== head;
    pending = hasNew ? ['new events'] : rows.map((row) => row.pending);
    return pending.length === 0;
  });
  return pending;
};

const PENDING = `
  select 'the follower ' || follower || ' is before position ' || $2::bigint as pending
    from unnest($1::text[]) follower left join public.follower_checkpoint using (follower)
    where position is null or position < $2::bigint
  union all
  select name || ' of ' || stream || coalesce(': ' || reason, '')
    from process_manager.task where skipped_at is null
  union all
  select 'reactions to the event at position ' || position from process_manager.fan_out
  union all
  select 'timers of ' || stream from process_manager.timer_mark
  union all
  select 'the timer ' || name || ' of ' || stream
    from process_manager.timer where due_at <= clock_timestamp() + $3::float8 * interval '1 millisecond'
  union all
  select 'the schedule ' || name
    from process_manager.schedule where wake_at <= clock_timestamp() + $3::float8 * interval '1 millisecond'
  union all
  select 'commands of the schedule ' || schedule from process_manager.schedule_run where not is_noted and '${PROJECTOR}' = any($1::text[])
  limit ${NAMED_MAX}`;
