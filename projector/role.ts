import { openPublication } from '#process/engines/open-change-stream.ts';
import { type Foundation, openFoundation } from '#process/foundation.ts';
import { loadAdditions } from '#process/part.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import { EVENT_INDEX, indexEvents, migrateEventIndex } from '#shared/event-index/event-index.ts';
import { takeFormerMoments } from '#shared/event-index/moments.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import { openReadModelNotifier, type ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { watchParked } from '#shared/read-model/watch-parked.ts';
import { startProjectionCommands } from './operator-commands.ts';
import type { PublisherDependencies } from './publish.ts';
import { startProjector } from './service.ts';
import { startSampling } from './take-samples.ts';

/** The projector role on its own; it serves only health checks. */
export const startRole = async (context: ProcessContext): Promise<void> => {
  const foundation = await openFoundation(context, 'annals-projector');
  const notifier = context.resources.use(
    openReadModelNotifier({ ...foundation, url: foundation.databaseUrl }),
  );
  await startProjection(context, foundation, { notifier });
  await serveClients(context, foundation, { routes: [], links: [] });
};

type Following = { readonly notifier: ReadModelNotifier };

/** All parts of the role, in any process. */
export const startProjection = async (
  { config, log, parts, resources }: ProcessContext,
  foundation: Foundation,
  { notifier }: Following,
): Promise<void> => {
  const added = await loadAdditions(parts, 'projector');
  const countEvents = added.find((part) => part.countEvents !== undefined)?.countEvents;
  watchParked(foundation);
  resources.use(await startProjector({ ...foundation, notifier, log }));
  resources.use(await startProjectionCommands({ ...foundation, log }));
  // PostgreSQL refuses to change or delete events.
  if (foundation.eventLog.cutStreams !== undefined) {
    const { startParkingCutStreams } = await import('./cut-streams.ts');
    resources.use(await startParkingCutStreams({ ...foundation, log }));
  }
  resources.use(await startEventIndex({ ...foundation, log }));
  for (const part of added) resources.use(await part.start({ ...foundation, log, config }));
  resources.use(await startSampling({ ...foundation, log, countEvents }));
  resources.use(
    await startConfiguredPublisher({
      ...{ ...foundation, notifier, log },
      ...{ url: config.changeStreamUrl, publicUrl: config.publicUrl },
    }),
  );
};

type Publishing = Omit<PublisherDependencies, 'publication'> & {
  readonly url: string;
  readonly publicUrl: string;
};

/** Starts the publisher that CHANGE_STREAM_URL configures; none if subscribers follow the log directly. */
export const startConfiguredPublisher = async ({
  url,
  publicUrl,
  ...dependencies
}: Publishing): Promise<AsyncDisposable> => {
  await using opening = new AsyncDisposableStack();
  const { eventLog, log } = dependencies;
  const publication = await openPublication({ url, eventLog, log, publicUrl });
  if (publication) {
    opening.use(publication);
    const { startPublisher } = await import('./publish.ts');
    opening.use(await startPublisher({ ...dependencies, publication }));
  }
  const resources = opening.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

type Indexing = Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'>;

/** Reads add the latest events from the log itself, so the index may write a second of events at once. */
const REST_MS = 1_000;

/**
 * Maintains the index of events, in one process at a time. A new index starts with the first event, whenever
 * it is installed.
 */
export const startEventIndex = async (dependencies: Indexing): Promise<AsyncDisposable> => {
  await migrateEventIndex(dependencies.pool);
  await takeFormerMoments(dependencies.pool);
  const [{ migrateDrift }, { createTimesWatch, keepingWentBack }] = await Promise.all([
    import('#shared/clock-drift/drift.ts'),
    import('#shared/clock-drift/went-back.ts'),
  ]);
  await migrateDrift(dependencies.pool);
  const watchTimes = createTimesWatch();
  return startFollower({
    ...dependencies,
    name: EVENT_INDEX,
    isRequired: false,
    restMs: REST_MS,
    write: (events, connection) => indexEvents(connection, events, keepingWentBack(watchTimes(events))),
  });
};
