import { LRUCache } from 'lru-cache';
import type { Position, StreamName, UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { Rejection } from '#shared/rejection.ts';
import { childrenOf } from '../process-manager/membership.ts';
import { PROCESS_MANAGER } from '../process-manager/process-manager.ts';
import { createTurns } from '../turns.ts';
import { userStream } from '../users/user.ts';

/** How many webhooks an owner may have. */
export type Quota = {
  /** One registration of an owner after the other, as far as this process makes them. */
  take<Result>(ownerId: UserId, register: () => Promise<Result>): Promise<Result>;
  /** Refuses where the owner has as many as one may have. */
  demandRoom(ownerId: UserId): Promise<void>;
  /** Tells of one that was just made, and where: the process manager may not have heard of it yet. */
  note(stream: StreamName, made: Made): void;
  /** Tells of one that is gone. */
  forget(stream: StreamName): void;
};

type Made = { readonly ownerId: UserId; readonly position: Position };

/** The process manager is seldom further behind than this. */
const RECENT_MS = 60_000;
const RECENT_MAX = 1_000;

export const createQuota = ({
  pool,
  perOwnerMax,
}: {
  pool: Pick<Pool, 'query'>;
  perOwnerMax: number;
}): Quota => {
  const turns = createTurns<UserId>();
  const recent = new LRUCache<StreamName, Made>({ max: RECENT_MAX, ttl: RECENT_MS });
  return {
    take: turns.take,
    async demandRoom(ownerId) {
      // Before its members are read, which then are at least of that place.
      const heard = (await readCheckpoint(pool, PROCESS_MANAGER))?.position ?? START;
      const known = await childrenOf(pool, userStream(ownerId), { kind: 'webhook', limit: perOwnerMax });
      // One that the process manager has heard of, and does not know, is gone: it was deleted by way of
      // another process.
      const made = [...recent.entries()].flatMap(([stream, by]) =>
        by.ownerId === ownerId && by.position > heard ? [stream] : [],
      );
      if (new Set([...known, ...made]).size >= perOwnerMax)
        throw new Rejection('quota_exceeded', { max: perOwnerMax });
    },
    note: (stream, made) => void recent.set(stream, made),
    forget: (stream) => void recent.delete(stream),
  };
};
