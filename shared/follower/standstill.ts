import type { Position } from '#shared/brands.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { secondsSince } from './behind.ts';
import { readStillness } from './checkpoint.ts';
import type { FollowerOptions } from './follower.ts';

export type Standstill = { readonly position: Position; readonly head: Position; readonly seconds: number };

/** A new owner of a lease takes over within seconds, and a page of events takes no longer. */
const STILL_MAX_S = 60;

type Sought = Pick<FollowerOptions, 'name' | 'pool'> & { readonly eventLog: Pick<EventLog, 'head' | 'follow'> };

/**
 * Tells if a follower has not moved for a minute, although there is something for it. One that is far behind and moves does not stand still,
 * and nor does one that had nothing to do until just now. Where nobody knows when it moved, it has had the time that it was watched for.
 */
export const findStandstill = async ({ name, pool, eventLog }: Sought, watchedSeconds?: number): Promise<Standstill | undefined> => {
  const { position, stillSeconds } = (await readStillness(pool, name)) ?? { position: START, stillSeconds: null };
  const still = stillSeconds ?? watchedSeconds ?? Number.POSITIVE_INFINITY;
  if (still < STILL_MAX_S) return undefined;
  const head = await eventLog.head();
  // A log that does not answer in time is told of by others.
  const waited = position < head ? await secondsSince(eventLog, position) : null;
  if (waited === null || waited < STILL_MAX_S) return undefined;
  return { position, head, seconds: Math.min(still, waited) };
};
