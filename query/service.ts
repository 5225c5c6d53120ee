// Over 200 lines, because it is one composition: the parts of the query role, and how they are connected.
import { type RequestHandler, Router } from 'express';
import type { Link } from '#edge/http/root-page.ts';
import { awaitConsistency } from '#edge/rest/reads/consistency.ts';
import type { ReadWritten } from '#edge/rest/writes/write-routes.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Config } from '#process/config.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { openReadPosition } from '#shared/read-model/read-position.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { ofAggregates, ofViews } from '#shared/rest/operations.ts';
import { createSnapshots, migrateSnapshots, unsavedTo } from '#shared/snapshots/snapshots.ts';
import { eventTypeReads } from './event-types/event-types.ts';
import { type EventDependencies, type EventService, openEvents } from './events/service.ts';
import { type GraphqlService, openGraphql } from './graphql/service.ts';
import type { HistoryOptions } from './history/history.ts';
import { historyReads } from './history/reads.ts';
import { type OpenApiOptions, openApiRoutes } from './openapi/document.ts';
import { operatorCommandRoutes } from './operations/operator-command-routes.ts';
import { operationsReads } from './operations/reads.ts';
import type { Proof, ProofDependencies } from './proof.ts';
import { createKindReads, type KindReads, readsOf } from './reads/reads.ts';
import { spreadKindReads } from './replicas/kinds.ts';
import { openReplicas } from './replicas/replicas.ts';
import { createReadJustCreated } from './rest/just-created.ts';
import { type AnyReads, type Reads, readRoutes } from './rest/read-routes.ts';
import { createReadWritten } from './rest/read-written.ts';
import { routeReads } from './routes/reads.ts';
import { openSearches } from './rows/searches.ts';
import type { PastOptions } from './time-travel/options.ts';
import { timeTravelReads } from './time-travel/reads.ts';
import { uploadRoutes } from './uploads/routes.ts';
import { uploadKey } from './uploads/signed-address.ts';
import { createVisibility } from './uploads/visibility.ts';
import { openViewFeed } from './views/feed.ts';
import { viewStreamRoutes } from './views/routes.ts';
import { webhookReads } from './webhooks/reads.ts';

/** The pages of an installation, which describe and use its interface. */
export type ServePages = (options: OpenApiOptions) => RequestHandler;

/** The dependencies of the query side. The caller owns them, and they outlive the service. */
type QueryDependencies = {
  readonly databaseUrl: string;
  readonly blobs: Pick<Blobs, 'find' | 'read' | 'put' | 'remove'>;
  readonly changes: ChangeStream;
  /** Notifies when the read model has advanced. */
  readonly notifier: ReadModelNotifier;
  /** Executes the mutations of GraphQL. */
  readonly gateway: CommandGateway;
  readonly proof: Proof;
  /** The pages beside the interface. */
  readonly servePages?: ServePages | undefined;
  /** The timeout of a read that waits for a write. */
  readonly visibleWithinMs?: number;
  /** The timeout of a read without a token that waits for a just created item. */
  readonly creatorWaitsMs?: number;
  /** The settings of GraphQL, and those that the OpenAPI document states of this installation. */
  readonly config: Omit<OpenApiOptions, 'domain'> &
    Pick<Config, 'graphql' | 'limits' | 'dataDir' | 'streams'> &
    Partial<Pick<Config, 'readDatabaseUrls'>>;
} & ProofDependencies &
  Pick<EventDependencies, 'keys' | 'health' | 'metrics' | 'tracing' | 'access'>;

type QueryService = AsyncDisposable &
  Pick<GraphqlService, 'routes' | 'refusals' | 'fastPath'> & {
    /** Reads the item for writes with `Prefer: return=representation`. */
    readonly readWritten: ReadWritten;
  };

/** The links of `GET /` to this role. */
export const queryLinksOf = (domain: Domain): readonly Link[] => [
  { rel: 'graphql', href: '/graphql', title: 'GraphQL: all data in one request' },
  ...ofAggregates(domain).flatMap(([, { use, path, summary }]) =>
    use.does === 'list' && use.kind.parent === undefined
      ? [{ rel: use.kind.path, href: path, title: summary }]
      : [],
  ),
  ...ofViews(domain).flatMap(([, { reads, path, summary }]) =>
    reads.does === 'list' ? [{ rel: reads.view.path, href: path, title: summary }] : [],
  ),
  { rel: 'users', href: '/users', title: 'The users' },
  { rel: 'events', href: '/events', title: 'Events: recorded and live' },
  { rel: 'event-types', href: '/event-types', title: 'Event types' },
  { rel: 'audit', href: '/audit/status', title: 'State of the proof' },
  { rel: 'operations', href: '/operations', title: 'System status (administrators)' },
  { rel: 'webhooks', href: '/webhooks', title: 'Webhooks: endpoints that receive changes' },
  { rel: 'openapi', href: '/openapi.json', title: 'The interface, for programs' },
  { rel: 'docs', href: '/docs', title: 'The interface, for people' },
  { rel: 'console', href: '/console', title: 'The installation, for administrators' },
];

const VISIBLE_WITHIN_MS = 5_000;
const CREATOR_WAITS_MS = 1_000;

/** Starts the query side: reads of the read model, each by the rights of its caller. */
export const startQueryService = async (dependencies: QueryDependencies): Promise<QueryService> => {
  const { domain, pool, eventLog, blobs, config, proof } = dependencies;
  const { graphql: settings, limits, dataDir } = config;
  await using opening = new AsyncDisposableStack();
  const { before, events, views, ...parts } = await openParts(dependencies, opening);
  const { snapshots, readPosition, searches, replicas, visibleWithinMs } = parts;
  const key = uploadKey(dependencies.masterKey);
  const followed = {
    feed: events.feed,
    views,
    streams: events.streams,
    demandPresentRole: events.demandPresentRole,
  };
  const graphql = opening.use(
    await openGraphql({
      ...dependencies,
      ...parts,
      ...followed,
      ...limits,
      uploadKey: key,
      dataDir,
      settings,
      before,
    }),
  );
  const { keys, clock } = dependencies;
  const folding = { keys, codec: createCodec(dependencies), tables: tablesOf(domain), snapshots };
  const past = { domain, pool, eventLog, clock, ...folding, readPosition, visibleWithinMs };
  const kinds = createKindReads({ domain, pool, searches });
  const reads = createReads(spreadKindReads(kinds, { domain, pool, searches, replicas }), past);
  const readWritten = createReadWritten({
    ...dependencies,
    reads: createReads(kinds, past),
    readPosition,
    waitMaxMs: visibleWithinMs,
  });
  const waitMaxMs = dependencies.creatorWaitsMs ?? CREATOR_WAITS_MS;
  const readJustCreated = createReadJustCreated({ readPosition, eventLog, clock, waitMaxMs });
  const routes = Router().use(
    events.routes,
    viewStreamRoutes({ domain, eventLog, ...followed, before }),
    proof.routesOf({ ...dependencies, before }),
    readRoutes(
      { ...reads, ...events.reads, ...proof.readsOf(dependencies) },
      { domain, before, readJustCreated },
    ),
    operatorCommandRoutes({ pool, bodyBytesMax: limits.bodyBytesMax }),
    graphql.routes,
    publicRoutes(dependencies, { ...config, domain }),
    uploadRoutes({
      blobs,
      key,
      visibilityOf: createVisibility({ domain, pool, find: kinds.find, key }),
      before,
    }),
  );
  const resources = opening.move();
  const { refusals, fastPath } = graphql;
  return { routes, refusals, fastPath, readWritten, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** Creates the tables of this role and opens what several routes share. */
const openParts = async (dependencies: QueryDependencies, opening: AsyncDisposableStack) => {
  const {
    domain,
    pool,
    eventLog,
    notifier,
    config,
    clock,
    visibleWithinMs = VISIBLE_WITHIN_MS,
  } = dependencies;
  await migrateAudit(pool);
  await migrateOperations(pool);
  await migrateSnapshots(pool);
  const snapshots = createSnapshots({ ...dependencies, reportUnsaved: unsavedTo(dependencies.log) });
  const readPosition = opening.use(openReadPosition({ pool, eventLog, notifier, clock }));
  const searches = opening.use(openSearches(dependencies));
  const before: readonly RequestHandler[] = [
    awaitConsistency({ readPosition, eventLog, waitMaxMs: visibleWithinMs }),
  ];
  const events = opening.use(
    await openEvents({ ...dependencies, snapshots, settings: config.streams, before }),
  );
  const views = opening.use(
    openViewFeed({ domain, pool, notifier, clock, moveOnMs: config.streams.heartbeatMs }),
  );
  const replicas = opening.use(openReplicas({ ...dependencies, urls: config.readDatabaseUrls ?? [] }));
  return { snapshots, readPosition, searches, before, events, views, replicas, visibleWithinMs };
};

/** The routes with the same answers for everybody. */
const publicRoutes = (
  { eventLog, servePages }: Pick<QueryDependencies, 'eventLog' | 'servePages'>,
  options: OpenApiOptions,
): Router =>
  Router().use(openApiRoutes(options, eventLog), ...(servePages === undefined ? [] : [servePages(options)]));

/** The type requires every kernel operation that this role serves, so the compiler names a missing one. */
const createReads = (
  kinds: KindReads,
  past: PastOptions & HistoryOptions,
): Omit<Reads, keyof EventService['reads'] | keyof ReturnType<Proof['readsOf']>> & AnyReads => {
  const { domain, pool } = past;
  const webhooks = webhookReads({ domain, pool, identity: past.eventLog.identity });
  return {
    ...readsOf(domain, kinds),
    ...webhooks,
    ...timeTravelReads({ kinds, webhooks }, past),
    ...historyReads({ kinds, webhooks }, past),
    ...eventTypeReads(domain),
    ...operationsReads(past),
    ...routeReads(domain, pool),
  };
};
