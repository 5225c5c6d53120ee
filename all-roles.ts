import type { Router } from 'express';
import type { Link } from '#edge/http/root-page.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import { exampleKind } from '#kernel/registry/example-kind.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Config } from '#process/config.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import { openChangeStream } from '#process/engines/open-change-stream.ts';
import type { FirstMinute } from '#process/first-minute-file.ts';
import { type Foundation, openFoundation } from '#process/foundation.ts';
import { otherIssuer } from '#process/issuer.ts';
import { loadAdditions } from '#process/part.ts';
import type { ProcessContext } from '#process/run.ts';
import { serveClients } from '#process/serve-clients.ts';
import type { WorkerLink } from '#process/workers/link.ts';
import { policyOf } from '#shared/policy.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { commandRoutes, openPartRoutes } from './command/routes.ts';
import { startCommands } from './command/start.ts';
import { startProjection } from './projector/role.ts';
import { startQueryService } from './query/service.ts';

type Options = {
  /** Whether the domain has a demo, which a first start then offers. */
  readonly hasDemo?: boolean;
  /** Whether the user has been shown already what to try. */
  readonly isQuiet?: boolean;
};

/** The worker that follows the event log, and serves no clients. */
export const startFollowers = async (context: ProcessContext, worker: WorkerLink): Promise<void> => {
  const { config, log, parts, resources } = context;
  const foundation = await openFoundation(context, 'annals');
  resources.use(worker.report(foundation));
  const blobs = resources.use(
    await openBlobs({ url: config.blobUrl, health: foundation.health, scan: context.scan }),
  );
  const gateway = resources.use(await startCommands(context, foundation, { blobs }));
  const notifier = resources.use(openReadModelNotifier({ ...foundation, url: foundation.databaseUrl }));
  await startProjection(context, foundation, { notifier });
  const services = await loadAdditions(parts, 'service');
  if (services.length > 0) {
    const changes = resources.use(
      await openChangeStream({ ...foundation, url: config.changeStreamUrl, notifier, log }),
    );
    for (const service of services)
      resources.use(await service.start({ ...foundation, changes, gateway, log, config, follows: true }));
  }
  resources.defer(async () => foundation.health.drain());
  await worker.primary.ask('ready', { url: undefined });
};

/**
 * All roles in one process, on the embedded database unless the settings name another; in a worker, all roles
 * except the followers of the event log. Tests use the parts.
 */
export const startAll = async (
  context: ProcessContext,
  { hasDemo = false, isQuiet = false }: Options = {},
): Promise<Started> => {
  const { config, worker } = context;
  const foundation = await openFoundation(context, 'annals');
  const follows = worker === undefined;
  const { blobs, gateway, issuer, query, services } = await startRoles(context, foundation, {
    follows,
  });
  const isDevelopment = config.environment === 'development';
  const mayPrepare = issuer.prepareFirstMinute !== undefined && (follows || worker.isFirst);
  const prepares = isDevelopment && mayPrepare;
  const isFirst = prepares && (await isFirstMinute(config));
  const firstMinute = prepares && (await issuer.prepareFirstMinute?.());
  const { requireIfMatch, limits } = context.config;
  const { fastPaths, fastRoutes, links, readWritten } = query;
  const writes = commandRoutes({
    ...foundation,
    gateway,
    blobs,
    ...{ readWritten, fastRoutes },
    requireIfMatch,
    bodyBytesMax: limits.bodyBytesMax,
  });
  // The most frequent requests come first, because Express tries one route after the other.
  const routes = [
    resourcePaths(foundation.domain),
    query.routes,
    writes,
    ...(await openPartRoutes(context.parts, { ...foundation, ...context, gateway })),
    issuer.routes,
    ...services,
    ...query.ownRoutes,
    ...query.refusals,
  ];
  const { url } = await serveClients(context, foundation, {
    routes,
    links,
    offersDemo: isDevelopment && hasDemo ? () => isUnused(foundation) : undefined,
    ...(issuer.isPage && { isPage: issuer.isPage }),
    authentication: issuer.authentication,
    fastPaths: [...fastPaths, ...(issuer.fastPaths ?? [])],
    upgrades: query.upgrades,
  });
  if (firstMinute)
    await showFirstMinute(config, foundation.domain, {
      ...{ url, links, firstMinute, isQuiet },
      offersDemo: hasDemo && isFirst,
    });
  return { url, foundation };
};

type RoleOptions = {
  /** Whether this process follows the event log. */
  readonly follows: boolean;
};

const startRoles = async (context: ProcessContext, foundation: Foundation, { follows }: RoleOptions) => {
  const { config, log, parts, resources } = context;
  const blobs = resources.use(
    await openBlobs({ url: config.blobUrl, health: foundation.health, scan: context.scan }),
  );
  const gateway = resources.use(await startCommands(context, foundation, { blobs, follows }));
  const notifier = resources.use(openReadModelNotifier({ ...foundation, url: foundation.databaseUrl }));
  if (follows) await startProjection(context, foundation, { notifier });
  const [chosen = otherIssuer] = await loadAdditions(parts, 'issuer');
  const issuer = await chosen.open(context, foundation, gateway);
  const changes = resources.use(
    await openChangeStream({ ...foundation, url: config.changeStreamUrl, notifier, log }),
  );
  const given = { ...foundation, changes, gateway, config, log };
  const query = resources.use(
    await startQueryService(
      { ...given, access: issuer.authentication, blobs, notifier, ownRoutes: context.routes },
      await loadAdditions(parts, 'query'),
    ),
  );
  const services: Router[] = [];
  for (const service of await loadAdditions(parts, 'service')) {
    const started = await service.start({ ...given, follows });
    services.push(resources.use(started).routes);
  }
  return { blobs, gateway, issuer, query, services };
};

const isFirstMinute = async ({ dataDir }: Config): Promise<boolean> =>
  (await (await import('#process/first-minute-file.ts')).readFirstMinute(dataDir)) === undefined;

type Showing = {
  /** The address that the server listens on. */
  readonly url: string;
  readonly links: readonly Link[];
  readonly firstMinute: FirstMinute;
  readonly offersDemo: boolean;
  readonly isQuiet: boolean;
};

/** Stores the access of the first minute in the data folder, and prints what to try next. */
const showFirstMinute = async (
  { dataDir, publicUrl }: Config,
  domain: Domain,
  { url, links, firstMinute, offersDemo, isQuiet }: Showing,
): Promise<void> => {
  const { readDemoAccess, writeFirstMinute } = await import('#process/first-minute-file.ts');
  await writeFirstMinute(dataDir, { ...firstMinute, url: byName(url) });
  if (isQuiet) return;
  const demo = await readDemoAccess(dataDir);
  const { banner } = await import('#process/banner.ts');
  process.stderr.write(
    banner({
      url: shownUrl(publicUrl, url),
      dataDir,
      links,
      firstMinute,
      demo,
      scopes: exampleScopes(domain),
      offersDemo: offersDemo && demo === undefined,
    }),
  );
};

type Started = { readonly url: string; readonly foundation: Foundation };

/** A first start appends fewer events, in the event log of PostgreSQL. */
const UNUSED_EVENTS_MAX = 20;

const isUnused = async ({ eventLog }: Foundation): Promise<boolean> =>
  (await eventLog.head()) <= UNUSED_EVENTS_MAX;

/** The address in every link; a port that the system chose is known only now. */
const shownUrl = (publicUrl: string, url: string): string =>
  publicUrl.replace(/:0(?=\/|$)/, `:${new URL(url).port}`);

/** As a browser knows it from every other link: an address with digits is another origin, without its cookies. */
const byName = (url: string): string =>
  url.replace(/^(https?:\/\/)(?:127\.0\.0\.1|\[::1\])(?=:|$)/, '$1localhost');

const exampleScopes = (domain: Domain): string => {
  const { path } = exampleKind(domain);
  return policyOf(domain)
    .scopes.filter((scope) => scope === `read:${path}` || scope === `write:${path}`)
    .join(' ');
};
