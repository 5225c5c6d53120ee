import { EVENT_INDEX, indexEvents, migrateEventIndex } from '#shared/event-index/event-index.ts';
import { takeFormerMoments } from '#shared/event-index/moments.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';

type Dependencies = Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'>;

/** Reads add the latest events from the log itself, so the index may write a second of events at once. */
const REST_MS = 1_000;

/**
 * Maintains the index of events, in one process at a time. A new index starts with the first event, whenever
 * it is installed.
 */
export const startEventIndex = async (dependencies: Dependencies): Promise<AsyncDisposable> => {
  await migrateEventIndex(dependencies.pool);
  await takeFormerMoments(dependencies.pool);
  return startFollower({
    ...dependencies,
    name: EVENT_INDEX,
    isRequired: false,
    restMs: REST_MS,
    write: (events, connection) => indexEvents(connection, events),
  });
};
