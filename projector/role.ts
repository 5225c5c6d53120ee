import type { AuditSettings } from '#process/config.ts';
import { type Foundation, openFoundation } from '#process/foundation.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import type { Log } from '#shared/log.ts';
import { openReadModelNotifier, type ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { watchParked } from '#shared/read-model/watch-parked.ts';
import { startParkingCutStreams } from './cut-streams.ts';
import { startEventIndex } from './index-events.ts';
import { startProjectionCommands } from './operator-commands.ts';
import { startConfiguredPublisher } from './publish.ts';
import { startProjector } from './service.ts';
import { startSampling } from './take-samples.ts';

/** Starts the proof, which runs in the process that follows the event log. */
type StartProof = (
  dependencies: Foundation & { readonly log: Log; readonly settings: AuditSettings },
) => Promise<AsyncDisposable>;

/** The projector role on its own; it serves only health checks. */
export const startRole = async (context: ProcessContext, startProof: StartProof): Promise<void> => {
  const foundation = await openFoundation(context, 'annals-projector');
  const notifier = context.resources.use(
    openReadModelNotifier({ ...foundation, url: foundation.databaseUrl }),
  );
  await startProjection(context, foundation, { notifier, startProof });
  await serveClients(context, foundation, { routes: [], links: [] });
};

type Following = { readonly notifier: ReadModelNotifier; readonly startProof: StartProof };

/** All parts of the role, in any process. */
export const startProjection = async (
  { config, log, resources }: ProcessContext,
  foundation: Foundation,
  { notifier, startProof }: Following,
): Promise<void> => {
  watchParked(foundation);
  resources.use(await startProjector({ ...foundation, notifier, log }));
  resources.use(await startProjectionCommands({ ...foundation, log }));
  resources.use(await startParkingCutStreams({ ...foundation, log }));
  resources.use(await startSampling({ ...foundation, log }));
  resources.use(await startEventIndex({ ...foundation, log }));
  resources.use(await startProof({ ...foundation, log, settings: config.audit }));
  resources.use(
    await startConfiguredPublisher({ ...foundation, notifier, log, url: config.changeStreamUrl }),
  );
};
