import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { isHeld } from '#shared/database/lease/lease.ts';
import type { Pool } from '#shared/database/pool.ts';
import { NEXT, PREVIOUS } from '#shared/database/read-model-schemas.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { lagSecondsAt } from '#shared/follower/lag.ts';

export type FollowerState = {
  readonly name: string;
  /** Null if it has followed another log. */
  readonly position: Position | null;
  /** The waiting time of its oldest event; null if the log does not respond in time. */
  readonly behindSeconds: number | null;
  /** Whether some process owns it. */
  readonly isRunning: boolean;
};

type Row = {
  readonly name: string;
  readonly log: LogIdentity;
  readonly position: Position;
  readonly isRunning: boolean;
};

/** The positions of all followers that ever ran, by their names. */
export const readFollowers = async (
  pool: Pool,
  eventLog: Pick<EventLog, 'identity' | 'head' | 'follow'>,
): Promise<FollowerState[]> => {
  const rows = await readCheckpoints(pool);
  // Read after the positions, so that none is beyond it.
  const head = await eventLog.head();
  const waited = new Map<Position, Promise<number | null>>();
  const lagSeconds = (position: Position): Promise<number | null> => {
    const known =
      waited.get(position) ??
      (position >= head ? Promise.resolve(0) : lagSecondsAt(eventLog, position).catch(() => null));
    waited.set(position, known);
    return known;
  };
  return Promise.all(
    rows.map(async ({ name, log, position, isRunning }) => {
      const isOurs = log === eventLog.identity;
      return {
        name,
        position: isOurs ? position : null,
        behindSeconds: isOurs ? await lagSeconds(position) : null,
        isRunning,
      };
    }),
  );
};

/** Other versions of the read model have checkpoints, too, but follow nothing. */
const readCheckpoints = async (pool: Pool): Promise<readonly Row[]> => {
  const found = await pool.query<{ isThere: boolean }>(
    `select to_regclass('public.follower_checkpoint') is not null and to_regclass('public.lease') is not null as "isThere"`,
  );
  if (!found.rows[0]?.isThere) return [];
  const { rows } = await pool.query<Row>(
    `select follower as name, log, position, coalesce(${isHeld('l')}, false) as "isRunning"
     from public.follower_checkpoint c left join public.lease l on l.name = c.follower
     where follower <> all ($1) order by follower`,
    [[NEXT.follower, PREVIOUS.follower]],
  );
  return rows;
};
