import { gatewayKey } from '#edge/command-gateway/assertion.ts';
import { createHttpGateway } from '#edge/command-gateway/http-gateway.ts';
import { openFoundation } from '#process/foundation.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import { openAuth } from './open-auth.ts';
import { isPagePath } from './pages/page-paths.ts';
import { recordingOfAuditors } from './record-auditors.ts';

/** Starts the auth role alone. It sends commands about users to the command role. */
export const startRole = async (context: ProcessContext): Promise<void> => {
  const foundation = await openFoundation(context, 'annals-auth');
  const gateway = createHttpGateway({
    urls: context.config.commandUrls,
    key: gatewayKey(foundation.masterKey),
    issuer: 'auth',
    clock: foundation.clock,
  });
  const { auth, authentication } = await openAuth(context, foundation, gateway);
  await serveClients(context, foundation, {
    routes: [
      ...(await recordingOfAuditors({ ...foundation, log: context.log }, context.resources)),
      auth.routes,
    ],
    links: [],
    isPage: isPagePath,
    authentication,
    fastPaths: [auth.fastPath],
  });
};
