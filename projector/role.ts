import { type Foundation, openFoundation } from '#process/foundation.ts';
import { loadAdditions } from '#process/part.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import { openReadModelNotifier, type ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { watchParked } from '#shared/read-model/watch-parked.ts';
import { startParkingCutStreams } from './cut-streams.ts';
import { startEventIndex } from './index-events.ts';
import { startProjectionCommands } from './operator-commands.ts';
import { startProjector } from './service.ts';
import { startConfiguredPublisher } from './start-publisher.ts';
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
  resources.use(await startParkingCutStreams({ ...foundation, log }));
  resources.use(await startEventIndex({ ...foundation, log }));
  for (const part of added) resources.use(await part.start({ ...foundation, log, config }));
  resources.use(await startSampling({ ...foundation, log, countEvents }));
  resources.use(
    await startConfiguredPublisher({ ...foundation, notifier, log, url: config.changeStreamUrl }),
  );
};
