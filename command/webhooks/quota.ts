import { LRUCache } from 'lru-cache';
import type { StreamName, UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { Rejection } from '#shared/rejection.ts';
import { childrenOf } from '../process-manager/membership.ts';
import { createTurns } from '../turns.ts';
import { userStream } from '../users/user.ts';

/** How many webhooks an owner may have. */
export type Quota = {
  /** One registration of an owner after the other, as far as this process makes them. */
  take<Result>(ownerId: UserId, register: () => Promise<Result>): Promise<Result>;
  /** Refuses where the owner has as many as one may have. */
  demandRoom(ownerId: UserId): Promise<void>;
  /** Tells of one that was just made, or that is gone: the process manager may not have heard of it yet. */
  note(stream: StreamName, ownerId: UserId | undefined): void;
};

/** The process manager is seldom further behind than this. */
const RECENT_MS = 60_000;
const RECENT_MAX = 1_000;

export const createQuota = ({ pool, perOwnerMax }: { pool: Pick<Pool, 'query'>; perOwnerMax: number }): Quota => {
  const turns = createTurns<UserId>();
  const recent = new LRUCache<StreamName, UserId>({ max: RECENT_MAX, ttl: RECENT_MS });
  return {
    take: turns.take,
    async demandRoom(ownerId) {
      const known = await childrenOf(pool, userStream(ownerId), { kind: 'webhook', limit: perOwnerMax });
      const made = [...recent.entries()].flatMap(([stream, owner]) => (owner === ownerId ? [stream] : []));
      if (new Set([...known, ...made]).size >= perOwnerMax) throw new Rejection('quota_exceeded', { max: perOwnerMax });
    },
    note(stream, ownerId) {
      if (ownerId === undefined) recent.delete(stream);
      else recent.set(stream, ownerId);
    },
  };
};
