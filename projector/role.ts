import { openFoundation } from '#shared/foundation.ts';
import { serveClients } from '#shared/http/serve-clients.ts';
import { openReadModelBell } from '#shared/read-model/read-model.ts';
import type { ProcessContext } from '#shared/run.ts';
import { startAudit } from '../audit/service.ts';
import { startProjectionOrders } from './carry-out-orders.ts';
import { startConfiguredPublisher } from './publish.ts';
import { startProjector } from './service.ts';
import { startSampling } from './take-samples.ts';

/** The projector role alone; it serves nothing but whether it is well. */
export const startRole = async (context: ProcessContext): Promise<void> => {
  const foundation = await openFoundation(context, 'annals-projector');
  const bell = context.resources.use(openReadModelBell({ url: foundation.databaseUrl, directUrl: foundation.directUrl }));
  const { config, log } = context;
  context.resources.use(await startProjector({ ...foundation, bell, log }));
  context.resources.use(await startProjectionOrders({ ...foundation, log }));
  context.resources.use(await startSampling({ ...foundation, log }));
  context.resources.use(await startAudit({ ...foundation, log, settings: config.audit }));
  context.resources.use(await startConfiguredPublisher({ ...foundation, bell, log, url: config.changeStreamUrl }));
  await serveClients(context, foundation, { routes: [], links: [] });
};
