import type { Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { poll } from '#shared/clock/poll.ts';
import type { Pool } from '#shared/database/pool.ts';
import { migrateFollowers } from '#shared/follower/checkpoint.ts';
import { PROCESS_MANAGER, REACTIONS } from '#shared/process-manager/followers.ts';
import { migrateProcessManager } from './process-manager.ts';

export const LOOK_EVERY_MS = 50;
const WAIT_MAX_MS = 30_000;

const NAMED_MAX = 5;

/**
 * Waits until the consequences of the events up to a position were executed or parked. Returns some of those
 * that were not after the timeout, for example because no process executes them; otherwise an empty list.
 */
export const untilExecuted = async (
  pool: Pool,
  position: Position,
  clock: Clock,
): Promise<readonly string[]> => {
  await migrateFollowers(pool);
  await migrateProcessManager(pool);
  let pending: readonly string[] = [];
  await poll({ clock, everyMs: LOOK_EVERY_MS, withinMs: WAIT_MAX_MS }, async () => {
    const { rows } = await pool.query<{ pending: string }>(
      `select 'events after ' || position || ' (' || follower || ')' as pending
         from public.follower_checkpoint where follower = any($1) and position < $2
       union all
       select name || ' (' || stream || ')' from process_manager.task where attempts = 0 and skipped_at is null
       union all
       select 'reactions to the event at ' || position from process_manager.fan_out
       limit ${NAMED_MAX}`,
      [[PROCESS_MANAGER, REACTIONS], position],
    );
    pending = rows.map((row) => row.pending);
    return pending.length === 0;
  });
  return pending;
};
