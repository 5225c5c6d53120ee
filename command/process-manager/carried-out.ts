import { setTimeout as delay } from 'node:timers/promises';
import type { Position } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { migrateFollowers } from '#shared/follower/checkpoint.ts';
import { REACTIONS } from './declaration.ts';
import { migrateProcessManager, PROCESS_MANAGER } from './process-manager.ts';

const LOOK_EVERY_MS = 50;
const WAIT_MAX_MS = 30_000;

/**
 * Waits until the consequences of the events up to a position were executed or parked. Returns false after
 * the timeout, for example if no process executes them.
 */
export const untilCarriedOut = async (pool: Pool, position: Position): Promise<boolean> => {
  await migrateFollowers(pool);
  await migrateProcessManager(pool);
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < WAIT_MAX_MS) {
    const { rows } = await pool.query<{ isOver: boolean }>(
      `select not exists (select from public.follower_checkpoint where follower = any($1) and position < $2)
         and not exists (select from process_manager.task where attempts = 0 and skipped_at is null)
         and not exists (select from process_manager.fan_out) as "isOver"`,
      [[PROCESS_MANAGER, REACTIONS], position],
    );
    if (rows[0]?.isOver) return true;
    await delay(LOOK_EVERY_MS);
  }
  return false;
};
