import { gatewayKey } from '#shared/command-gateway/assertion.ts';
import { openFoundation } from '#shared/foundation.ts';
import { createApp } from '#shared/http/app.ts';
import { HTTP_SHARE_OF_DRAIN, serveClients } from '#shared/http/serve-clients.ts';
import { startHttpServer } from '#shared/http/server.ts';
import { type ProcessContext, run } from '#shared/run.ts';
import { internalRoutes } from './internal-routes.ts';
import { startCommandService } from './service.ts';

/** The command role alone. The other roles hand over their commands on INTERNAL_PORT. */
const start = async (context: ProcessContext): Promise<void> => {
  const { config, log, resources } = context;
  const foundation = await openFoundation(context);
  const gateway = resources.use(await startCommandService({ ...foundation, log }));
  const { internal: listener, limits, drainMs } = config;
  const routes = [internalRoutes({ gateway, key: gatewayKey(foundation.masterKey), bodyBytesMax: limits.bodyBytesMax, log })];
  const handler = createApp({ log, metrics: foundation.metrics, routes });
  const server = resources.use(
    await startHttpServer({ handler, listener, setting: 'INTERNAL_PORT', limits, drainMs: drainMs * HTTP_SHARE_OF_DRAIN, log }),
  );
  log.info({ url: server.url }, 'Commands of the other roles are taken.');
  await serveClients(context, foundation, { routes: [], links: [], beside: server });
};

await run(start);
