import { openFoundation } from '#shared/foundation.ts';
import { serveClients } from '#shared/http/serve-clients.ts';
import { openReadModelBell } from '#shared/read-model/read-model.ts';
import { type ProcessContext, run } from '#shared/run.ts';
import { startProjector } from './service.ts';

/** The projector role alone; it serves nothing but whether it is well. */
const start = async (context: ProcessContext): Promise<void> => {
  const foundation = await openFoundation(context);
  const bell = context.resources.use(openReadModelBell({ url: foundation.databaseUrl }));
  context.resources.use(await startProjector({ ...foundation, bell, log: context.log }));
  await serveClients(context, foundation, { routes: [], links: [] });
};

await run(start);
