import { migrate } from '#shared/database/migrate.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import { type Followed, type FollowUpDependencies, followUp, isFollowed } from './follow-up.ts';
import { membershipIn } from './membership.ts';

export type ProcessManagerDependencies = FollowUpDependencies & Omit<FollowerOptions, 'name' | 'handle'> & { readonly codec: Codec };

/**
 * Carries out what changes bring with them. What it knows and how far it is change in one transaction,
 * after what follows from it was appended.
 */
export const startProcessManager = async (dependencies: ProcessManagerDependencies): Promise<AsyncDisposable> => {
  const { pool, eventLog, log, metrics, codec } = dependencies;
  await migrate(pool, 'process-manager', new URL('./migrations/', import.meta.url));
  return startFollower({
    name: 'process-manager',
    pool,
    eventLog,
    log,
    metrics,
    async handle(recorded, connection) {
      const events = (await codec.decodeAll(recorded.filter(({ type }) => isFollowed(type)))) as readonly DecodedEvent<Followed>[];
      const membership = membershipIn(connection);
      for (const event of events) await followUp(dependencies, membership, event);
    },
  });
};
