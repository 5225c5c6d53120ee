import { type RequestHandler, Router } from 'express';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { LogIdentity } from '#shared/brands.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Config } from '#shared/config.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Link } from '#shared/http/root.ts';
import type { Log } from '#shared/log.ts';
import type { ReadModelBell } from '#shared/read-model/read-model.ts';
import { openReadPosition } from '#shared/read-model/read-position.ts';
import { awaitConsistency } from '#shared/rest/reads/consistency.ts';
import { createArticleFinder } from './articles/find-article.ts';
import { articleReads } from './articles/reads.ts';
import { createCommentFinder } from './comments/find-comment.ts';
import { commentReads } from './comments/reads.ts';
import { docsRoutes } from './docs/routes.ts';
import { eventTypeReads } from './event-types/reads.ts';
import { type EventDependencies, openEvents } from './events/service.ts';
import { type GraphqlService, openGraphql } from './graphql/service.ts';
import type { OpenApiOptions } from './openapi/document.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { type Reads, readRoutes } from './read-routes.ts';
import { openSearches, type ReadConnections } from './searches.ts';
import { uploadRoutes } from './uploads/routes.ts';
import { createUserFinder } from './users/find-user.ts';
import { userReads } from './users/reads.ts';
import { webhookReads } from './webhooks/reads.ts';

/** What the query side works with; all of it is the caller's own, and outlives the service. */
export type QueryDependencies = {
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'read'>;
  readonly blobs: Pick<Blobs, 'find' | 'read' | 'put' | 'remove'>;
  /** What those who follow changes are told of. */
  readonly changes: ChangeStream;
  /** Rung when the read model has moved on. */
  readonly bell: ReadModelBell;
  /** Where the mutations of GraphQL go. */
  readonly gateway: CommandGateway;
  readonly log: Log;
  /** How long anything waits until a write can be read. */
  readonly visibleWithinMs?: number;
  /** Beside what GraphQL allows: what the description of the interface tells of this installation. */
  readonly config: OpenApiOptions & Pick<Config, 'graphql' | 'limits' | 'dataDir' | 'streams'>;
} & Pick<EventDependencies, 'keys' | 'health' | 'metrics' | 'refusalNow'>;

export type QueryService = AsyncDisposable & Pick<GraphqlService, 'routes' | 'refusals' | 'shortWay'>;

/** What `GET /` says of this role. */
export const QUERY_LINKS: readonly Link[] = [
  { rel: 'graphql', href: '/graphql', title: 'Everything in one request, by GraphQL' },
  { rel: 'articles', href: '/articles', title: 'The articles that you may read' },
  { rel: 'users', href: '/users', title: 'The users' },
  { rel: 'events', href: '/events', title: 'What has happened, and what happens' },
  { rel: 'event-types', href: '/event-types', title: 'What events there are' },
  { rel: 'webhooks', href: '/webhooks', title: 'Where changes are sent to' },
  { rel: 'openapi', href: '/openapi.json', title: 'The interface, for programs' },
  { rel: 'docs', href: '/docs', title: 'The interface, for people' },
];

const VISIBLE_WITHIN_MS = 5_000;

/** Starts the query side: what there is, from the read model, for whoever may see it. */
export const startQueryService = async (dependencies: QueryDependencies): Promise<QueryService> => {
  const { pool, eventLog, blobs, bell, config, visibleWithinMs = VISIBLE_WITHIN_MS } = dependencies;
  await using opening = new AsyncDisposableStack();
  const readPosition = opening.use(openReadPosition({ pool, eventLog, bell }));
  const searches = opening.use(openSearches(dependencies));
  const beforeReads: readonly RequestHandler[] = [awaitConsistency({ readPosition, eventLog, waitMaxMs: visibleWithinMs })];
  const { graphql: settings, limits, dataDir, streams } = config;
  const events = opening.use(await openEvents({ ...dependencies, settings: streams, before: beforeReads }));
  const followed = { feed: events.feed, streams: events.streams };
  const graphql = opening.use(
    await openGraphql({
      ...dependencies,
      ...followed,
      ...limits,
      searches,
      dataDir,
      readPosition,
      settings,
      before: beforeReads,
      visibleWithinMs,
    }),
  );
  const routes = Router().use(
    events.routes,
    readRoutes({ ...createReads({ pool, searches }, eventLog.identity), ...events.reads }, beforeReads),
    graphql.routes,
    // What is the same for everybody.
    openApiRoutes(config),
    docsRoutes(config),
    uploadRoutes({ blobs }),
  );
  const resources = opening.move();
  const { refusals, shortWay } = graphql;
  return { routes, refusals, shortWay, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** Every read of what is there has its place here, or the compiler says which has not. */
const createReads = ({ pool, searches }: ReadConnections, identity: LogIdentity): Omit<Reads, 'listEvents'> => {
  const findArticle = createArticleFinder(pool);
  return {
    ...userReads({ pool, searches, findUser: createUserFinder(pool) }),
    ...articleReads({ pool, searches, findArticle }),
    ...commentReads({ pool, findArticle, findComment: createCommentFinder(pool) }),
    ...webhookReads({ pool, identity }),
    ...eventTypeReads,
  };
};
