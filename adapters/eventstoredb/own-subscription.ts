import { type AllStreamSubscription, type EventStoreDBClient, streamNameFilter } from '@eventstore/db-client';
import type { Position } from '#kernel/base/brands.ts';
import { NO_PREFIX, type StreamPrefix } from './own-streams.ts';
import type { StoredEvent } from './record.ts';
import { serverPositionOf } from './server-positions.ts';

/** A record, or a position up to which there are no further ones. */
export type ReceivedOwn = { readonly event?: StoredEvent; readonly checkpoint?: Position };

/** The number of records of others that the server searches before it reports its progress. */
const SEARCH_WINDOW = 500;

/**
 * Subscribes to the records of a log’s own streams after a position. Its checkpoints, which move it on over
 * the records of others, come in order with the events.
 */
export const subscribeOwn = (
  client: EventStoreDBClient,
  prefix: StreamPrefix,
  after: Position,
): AllStreamSubscription => {
  const fromPosition = serverPositionOf(after);
  if (prefix === NO_PREFIX) return client.subscribeToAll({ fromPosition });
  return client.subscribeToAll({
    fromPosition,
    filter: streamNameFilter({
      prefixes: [prefix],
      maxSearchWindow: SEARCH_WINDOW,
      checkpointReached: (subscription, { commit }) =>
        void subscription.push({ checkpoint: Number(commit) as Position } satisfies ReceivedOwn),
    }),
  });
};

/** Leaving the loop over a subscription, or destroying it, would keep its call open on the server. */
export const endSubscription = (subscription: AllStreamSubscription): void => {
  subscription.destroy();
  subscription.unsubscribe().catch(() => {});
};
