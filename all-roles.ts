import { exampleKind } from '#kernel/registry/example-kind.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openBlobs } from '#shared/blobs/open.ts';
import { openChangeStream } from '#shared/change-stream/open.ts';
import { serveClients } from '#shared/http/serve-clients.ts';
import { policyOf } from '#shared/policy.ts';
import { type FirstMinute, writeFirstMinute } from '#shared/process/first-minute-file.ts';
import { type Foundation, openFoundation } from '#shared/process/foundation.ts';
import type { ProcessContext } from '#shared/process/run.ts';
import { openReadModelBell } from '#shared/read-model/read-model.ts';
import { resourcePaths } from '#shared/rest/resource-paths.ts';
import { prepareFirstMinute } from './auth/first-minute.ts';
import { openAuth } from './auth/open-auth.ts';
import { isPagePath } from './auth/pages/page-paths.ts';
import type { AuthService } from './auth/service.ts';
import type { Clock } from './command/clock.ts';
import { commandRoutes } from './command/routes.ts';
import { startCommandService } from './command/service.ts';
import { startProjection } from './projector/role.ts';
import { queryLinksOf, startQueryService } from './query/service.ts';
import { startDispatcher } from './webhook-dispatcher/service.ts';

/** All roles in one process, on the embedded database unless the settings name another. */
export const startRole = async (context: ProcessContext): Promise<void> => void (await startAll(context));

/** Tests give a clock that they move, and use the parts. */
export const startAll = async (context: ProcessContext, { clock }: { readonly clock?: Clock } = {}): Promise<Started> => {
  const foundation = await openFoundation(context, 'annals');
  const blobs = context.resources.use(await openBlobs({ url: context.config.blobUrl, health: foundation.health }));
  const gateway = context.resources.use(
    await startCommandService({ ...foundation, blobs, log: context.log, webhooks: context.config.webhooks, ...(clock && { clock }) }),
  );
  const bell = context.resources.use(openReadModelBell({ url: foundation.databaseUrl, directUrl: foundation.directUrl }));
  const { config, log } = context;
  await startProjection(context, foundation, bell);
  const { auth, authentication } = await openAuth(context, foundation, gateway);
  const changes = context.resources.use(await openChangeStream({ ...foundation, url: config.changeStreamUrl, bell, log }));
  const query = context.resources.use(
    await startQueryService({ ...foundation, access: authentication, changes, blobs, bell, gateway, config, log }),
  );
  const dispatcher = context.resources.use(await startDispatcher({ ...foundation, changes, gateway, log, config }));
  const isDevelopment = context.config.environment === 'development';
  const firstMinute = isDevelopment && (await prepareFirstMinute({ ...foundation, ...auth, gateway }, context.config.dataDir));
  const { requireIfMatch, limits } = context.config;
  const { shortWay, readWritten } = query;
  const writes = commandRoutes({ ...foundation, gateway, blobs, readWritten, requireIfMatch, bodyBytesMax: limits.bodyBytesMax });
  // What is asked for most comes first, because Express tries one route after the other.
  const routes = [resourcePaths(foundation.domain), query.routes, writes, auth.routes, dispatcher.routes, query.refusals];
  const links = queryLinksOf(foundation.domain);
  const { url } = await serveClients(context, foundation, {
    routes,
    links,
    isPage: isPagePath,
    authentication,
    shortWays: [shortWay, auth.shortWay],
  });
  if (firstMinute) {
    await writeFirstMinute(context.config.dataDir, { ...firstMinute, url });
    process.stderr.write(banner(shownUrl(config.publicUrl, url), firstMinute, exampleScopes(foundation.domain)));
  }
  return { url, foundation, auth };
};

type Started = { readonly url: string; readonly foundation: Foundation; readonly auth: AuthService };

/** As every link names it; a port that the system chose is known only now. */
const shownUrl = (publicUrl: string, url: string): string => publicUrl.replace(/:0(?=\/|$)/, `:${new URL(url).port}`);

const exampleScopes = (domain: Domain): string => {
  const { path } = exampleKind(domain);
  return policyOf(domain)
    .scopes.filter((scope) => scope === `read:${path}` || scope === `write:${path}`)
    .join(' ');
};

const banner = (url: string, { author }: FirstMinute, scopes: string): string => `
  Annals is at ${url}

  Try next:
    ${url}/docs                      the REST interface, to read and to try
    ${url}/graphql                   GraphQL, in a browser
    ${url}/account                   your own account, signed in as below
    ${url}/console                   what happens, for administrators
    curl ${url}/                     what is there
    npm run -s token -- --scope '${scopes}'
                                                an access token, as an administrator
    npm run annals -- help           the command line
    npm run annals -- log tail       the events so far

  Sign in as ${author.email} with the password ${author.password}

  Ctrl+C stops it; the data stays.

`;
