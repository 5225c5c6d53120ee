import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { readStillness } from './checkpoint.ts';
import { lagSecondsAt } from './lag.ts';

export type Standstill = { readonly position: Position; readonly head: Position; readonly seconds: number };

/** A new owner of a lease takes over within seconds, and a page of events takes no longer. */
const STILL_MAX_S = 60;

type Watching = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'head' | 'follow'> };
type Sought = { readonly name: string; readonly watchedSeconds?: number };

/**
 * Returns the followers that have not moved for a minute, although there are events for them. A follower that
 * lags but moves makes progress, and so does one that was idle until just now. If nobody knows when it moved
 * last, it gets the same time from the beginning of the watch.
 */
export const findStandstills = async (
  { pool, eventLog }: Watching,
  sought: readonly Sought[],
): Promise<ReadonlyMap<string, Standstill>> => {
  const found = await readStillness(
    pool,
    sought.map(({ name }) => name),
  );
  const still = sought.flatMap(({ name, watchedSeconds = Number.POSITIVE_INFINITY }) => {
    const { position = START, stillSeconds = null } = found.find(({ follower }) => follower === name) ?? {};
    const seconds = stillSeconds ?? watchedSeconds;
    return seconds < STILL_MAX_S ? [] : [{ name, position, seconds }];
  });
  if (still.length === 0) return new Map();
  const head = await eventLog.head();
  const behind = Map.groupBy(
    still.filter(({ position }) => position < head),
    ({ position }) => position,
  );
  const standstills = [...behind].map(async ([position, followers]) => {
    const waited = await lagSecondsAt(eventLog, position);
    // Another check reports a log that does not respond in time.
    if (waited === null || waited < STILL_MAX_S) return [];
    return followers.map(
      ({ name, seconds }) => [name, { position, head, seconds: Math.min(seconds, waited) }] as const,
    );
  });
  return new Map((await Promise.all(standstills)).flat());
};
