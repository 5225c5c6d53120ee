import type { AuditSettings } from '#process/config.ts';
import { type Foundation, openFoundation } from '#process/foundation.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { openReadModelNotifier, type ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { watchParked } from '#shared/read-model/watch-parked.ts';
import { startParkingCutStreams } from './cut-streams.ts';
import { startEventIndex } from './index-events.ts';
import { startProjectionCommands } from './operator-commands.ts';
import { startConfiguredPublisher } from './publish.ts';
import { startProjector } from './service.ts';
import { startSampling } from './take-samples.ts';

/** The proof, which runs in the process that follows the event log. */
type Proof = {
  start(
    dependencies: Foundation & { readonly log: Log; readonly settings: AuditSettings },
  ): Promise<AsyncDisposable>;
  /** How many events of the log it covers. */
  countEvents(pool: Pool): Promise<number>;
};

/** The projector role on its own; it serves only health checks. */
export const startRole = async (context: ProcessContext, proof: Proof): Promise<void> => {
  const foundation = await openFoundation(context, 'annals-projector');
  const notifier = context.resources.use(
    openReadModelNotifier({ ...foundation, url: foundation.databaseUrl }),
  );
  await startProjection(context, foundation, { notifier, proof });
  await serveClients(context, foundation, { routes: [], links: [] });
};

type Following = { readonly notifier: ReadModelNotifier; readonly proof: Proof };

/** All parts of the role, in any process. */
export const startProjection = async (
  { config, log, resources }: ProcessContext,
  foundation: Foundation,
  { notifier, proof }: Following,
): Promise<void> => {
  watchParked(foundation);
  resources.use(await startProjector({ ...foundation, notifier, log }));
  resources.use(await startProjectionCommands({ ...foundation, log }));
  resources.use(await startParkingCutStreams({ ...foundation, log }));
  resources.use(await startSampling({ ...foundation, log, countEvents: proof.countEvents }));
  resources.use(await startEventIndex({ ...foundation, log }));
  resources.use(await proof.start({ ...foundation, log, settings: config.audit }));
  resources.use(
    await startConfiguredPublisher({ ...foundation, notifier, log, url: config.changeStreamUrl }),
  );
};
