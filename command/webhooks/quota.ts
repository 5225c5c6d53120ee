import { LRUCache } from 'lru-cache';
import type { Position, StreamName, UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { PROCESS_MANAGER } from '#shared/process-manager/followers.ts';
import { createKeyedQueue } from '../handling/keyed-queue.ts';
import { childrenOf } from '../handling/membership.ts';
import { userStream } from '../users/user.ts';

/** Enforces the number of webhooks per owner. */
export type Quota = {
  /** Runs registrations of one owner in sequence within this process. */
  take<Result>(ownerId: UserId, register: () => Promise<Result>): Promise<Result>;
  /** Refuses if the owner’s quota is exhausted. */
  demandRoom(ownerId: UserId): Promise<void>;
  /** Records a new webhook with its position: the process manager may not have read it yet. */
  note(stream: StreamName, made: Made): void;
  /** Records a deleted webhook. */
  forget(stream: StreamName): void;
};

type Made = { readonly ownerId: UserId; readonly position: Position };

/** The process manager rarely lags more than this. */
const RECENT_MS = 60_000;
const RECENT_MAX = 1_000;

export const createQuota = ({
  pool,
  perOwnerMax,
}: {
  pool: Pick<Pool, 'query'>;
  perOwnerMax: number;
}): Quota => {
  const queue = createKeyedQueue<UserId>();
  const recent = new LRUCache<StreamName, Made>({ max: RECENT_MAX, ttl: RECENT_MS });
  return {
    take: queue.run,
    async demandRoom(ownerId) {
      // Read before the members, which are then at least as recent.
      const processed = (await readCheckpoint(pool, PROCESS_MANAGER))?.position ?? START;
      const known = await childrenOf(pool, userStream(ownerId), { kind: 'webhook', limit: perOwnerMax });
      // A webhook that the process manager has passed, and does not list, was deleted by another process.
      const made = [...recent.entries()].flatMap(([stream, by]) =>
        by.ownerId === ownerId && by.position > processed ? [stream] : [],
      );
      if (new Set([...known, ...made]).size >= perOwnerMax)
        throw new Rejection('quota_exceeded', { max: perOwnerMax });
    },
    note: (stream, made) => void recent.set(stream, made),
    forget: (stream) => void recent.delete(stream),
  };
};
