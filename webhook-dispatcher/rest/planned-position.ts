import { setTimeout as delay } from 'node:timers/promises';
import type { Position } from '#shared/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import { PLANNER } from '../plan.ts';

const LOOK_EVERY_MS = 25;

/** How far deliveries are planned, which is never further than what can be read; those who wait look together. */
export const openPlannedPosition = (pool: Pool): Pick<ReadPosition, 'reaches'> => {
  const look = coalesce<string, Position>(async ([follower = PLANNER]) => {
    const checkpoint = await readCheckpoint(pool, follower);
    return new Map(checkpoint ? [[follower, checkpoint.position]] : []);
  });
  return {
    async reaches(position, waitMaxMs, signal) {
      const endsAtMs = performance.now() + waitMaxMs;
      for (;;) {
        if (((await look(PLANNER)) ?? 0) >= position) return true;
        if (signal?.aborted || performance.now() > endsAtMs) return false;
        await delay(LOOK_EVERY_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
      }
    },
  };
};
