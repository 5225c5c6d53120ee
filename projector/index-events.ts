import { EVENT_INDEX, indexEvents, migrateEventIndex } from '#shared/event-index/event-index.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';

type Dependencies = Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics'>;

/** Reads add the latest events from the log itself, so that a second of events can be written at once. */
const REST_MS = 1_000;

/**
 * Keeps the index of events, in one process at a time. A new one begins with the first event, whenever it is
 * installed.
 */
export const startEventIndex = async (dependencies: Dependencies): Promise<AsyncDisposable> => {
  await migrateEventIndex(dependencies.pool);
  return startFollower({
    ...dependencies,
    name: EVENT_INDEX,
    isRequired: false,
    restMs: REST_MS,
    write: (events, connection) => indexEvents(connection, events),
  });
};
