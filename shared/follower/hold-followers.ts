import type { Clock } from '#shared/clock/clock.ts';
import { type HeldLeases, holdLeases, migrateLeases } from '../database/lease/lease.ts';
import type { Pool } from '../database/pool.ts';
import { migrateFollowers } from './checkpoint.ts';

/** Well below the time after which a follower that does not move makes its role unready. */
const EXCUSE_EVERY_MS = 5_000;

type Holding = { readonly clock: Clock; readonly excuseEveryMs?: number };

/**
 * Has followers, and other work under leases, stand by until it is disposed. Meanwhile they do not count as
 * standing still, so that their role stays ready.
 */
export const holdFollowers = async (
  pool: Pool,
  names: readonly string[],
  { clock, excuseEveryMs = EXCUSE_EVERY_MS }: Holding,
): Promise<HeldLeases> => {
  await migrateLeases(pool);
  await migrateFollowers(pool);
  const held = await holdLeases(pool, names);
  const done = new AbortController();
  const excusing = (async () => {
    while (!done.signal.aborted) {
      // One that fails is made up for by the next; if the database is away for long, the leases are lost.
      await excuse(pool, names).catch(() => {});
      await clock.sleep(excuseEveryMs, done.signal);
    }
  })();
  return {
    lost: held.lost,
    async [Symbol.asyncDispose]() {
      done.abort();
      await excusing;
      await held[Symbol.asyncDispose]();
    },
  };
};

const excuse = async (pool: Pool, names: readonly string[]): Promise<void> => {
  await pool.query(
    'update public.follower_checkpoint set moved_at = clock_timestamp(), moved_position = position where follower = any($1)',
    [names],
  );
};
