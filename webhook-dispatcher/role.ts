import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import { openAuthentication } from '#process/authentication.ts';
import { openChangeStream } from '#process/engines/open-change-stream.ts';
import { openFoundation } from '#process/foundation.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { startDispatcher } from './service.ts';

/** The dispatcher on its own. Other webhook requests go to the command role. */
export const startRole = async (context: ProcessContext): Promise<void> => {
  const { config, log, resources } = context;
  const foundation = await openFoundation(context, 'annals-webhook-dispatcher');
  const authentication = await openAuthentication(context, foundation);
  const notifier = resources.use(openReadModelNotifier({ ...foundation, url: foundation.databaseUrl }));
  const gateway = createHttpGateway({
    urls: config.commandUrls,
    key: gatewayKey(foundation.masterKey),
    issuer: 'webhook-dispatcher',
    clock: foundation.clock,
  });
  const changes = resources.use(
    await openChangeStream({ ...foundation, url: config.changeStreamUrl, notifier, log }),
  );
  const { routes } = resources.use(await startDispatcher({ ...foundation, changes, gateway, log, config }));
  await serveClients(context, foundation, {
    routes: [resourcePaths(foundation.domain), routes],
    links: [],
    authentication,
  });
};
