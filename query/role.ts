import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import { itemWrites } from '#edge/rest/writes/item-writes.ts';
import { openAuthentication } from '#process/authentication.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { openChangeStream } from '#process/engines/open-change-stream.ts';
import { openFoundation } from '#process/foundation.ts';
import { loadAdditions } from '#process/part.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { watchParked } from '#shared/read-model/watch-parked.ts';
import { startQueryService } from './service.ts';

/**
 * The query role alone. Commands of GraphQL mutations, and of writes that ask for the item, go to the command
 * role.
 */
export const startRole = async (context: ProcessContext): Promise<void> => {
  const { config, log, resources } = context;
  const foundation = await openFoundation(context, 'annals-query', { isReader: true });
  const authentication = await openAuthentication(context, foundation);
  foundation.health.add('read model', () => foundation.pool.query('select from read_model.users limit 1'));
  watchParked(foundation);
  const notifier = resources.use(openReadModelNotifier({ ...foundation, url: foundation.databaseUrl }));
  const blobs = resources.use(
    await openBlobs({ url: config.blobUrl, health: foundation.health, scan: context.scan }),
  );
  const gateway = createHttpGateway({
    urls: config.commandUrls,
    key: gatewayKey(foundation.masterKey),
    issuer: 'query',
    clock: foundation.clock,
  });
  const changes = resources.use(
    await openChangeStream({ ...foundation, url: config.changeStreamUrl, notifier, log }),
  );
  const { routes, ownRoutes, refusals, fastPaths, fastRoutes, links, readWritten, upgrades } = resources.use(
    await startQueryService(
      {
        ...{ ...foundation, access: authentication, changes, blobs, notifier, gateway, config, log },
        ownRoutes: context.routes,
      },
      await loadAdditions(context.parts, 'query'),
    ),
  );
  const { requireIfMatch, limits } = config;
  const writes = itemWrites({
    ...foundation,
    gateway,
    ...{ readWritten, fastRoutes },
    requireIfMatch,
    bodyBytesMax: limits.bodyBytesMax,
  });
  await serveClients(context, foundation, {
    routes: [resourcePaths(foundation.domain), routes, writes, ...ownRoutes, ...refusals],
    links,
    authentication,
    fastPaths,
    upgrades,
  });
};
