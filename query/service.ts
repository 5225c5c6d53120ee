import { type RequestHandler, Router } from 'express';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Link } from '#shared/http/root.ts';
import type { ReadModelBell } from '#shared/read-model/read-model.ts';
import { openReadPosition } from '#shared/read-model/read-position.ts';
import { createArticleFinder } from './articles/find-article.ts';
import { articleReads } from './articles/reads.ts';
import { createCommentFinder } from './comments/find-comment.ts';
import { commentReads } from './comments/reads.ts';
import { awaitConsistency } from './consistency.ts';
import { docsRoutes } from './docs/routes.ts';
import type { OpenApiOptions } from './openapi/document.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { type Reads, readRoutes } from './read-routes.ts';
import { uploadRoutes } from './uploads/routes.ts';
import { createUserFinder } from './users/find-user.ts';
import { userReads } from './users/reads.ts';

/** What the query side works with; all of it is the caller's own, and outlives the service. */
export type QueryDependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly blobs: Pick<Blobs, 'find' | 'read'>;
  /** Rung when the read model has moved on. */
  readonly bell: ReadModelBell;
  /** What the description of the interface tells of this installation. */
  readonly config: OpenApiOptions;
};

export type QueryService = AsyncDisposable & { readonly routes: Router };

/** What `GET /` says of this role. */
export const QUERY_LINKS: readonly Link[] = [
  { rel: 'articles', href: '/articles', title: 'The articles that you may read' },
  { rel: 'users', href: '/users', title: 'The users' },
  { rel: 'openapi', href: '/openapi.json', title: 'The interface, for programs' },
  { rel: 'docs', href: '/docs', title: 'The interface, for people' },
];

/** Starts the query side: what there is, from the read model, for whoever may see it. */
export const startQueryService = async ({ pool, eventLog, blobs, bell, config }: QueryDependencies): Promise<QueryService> => {
  const readPosition = openReadPosition({ pool, eventLog, bell });
  const beforeReads: readonly RequestHandler[] = [awaitConsistency({ readPosition, eventLog })];
  // What is the same for everybody is mounted here: /openapi.json, /docs, /uploads.
  const routes = Router().use(
    openApiRoutes(config),
    docsRoutes(config),
    uploadRoutes({ blobs }),
    readRoutes(createReads(pool), beforeReads),
  );
  return { routes, [Symbol.asyncDispose]: () => readPosition[Symbol.asyncDispose]() };
};

/** Every read has its place here, or the compiler says which has not. */
const createReads = (pool: Pool): Reads => {
  const findArticle = createArticleFinder(pool);
  return {
    ...userReads({ pool, findUser: createUserFinder(pool) }),
    ...articleReads({ pool, findArticle }),
    ...commentReads({ pool, findArticle, findComment: createCommentFinder(pool) }),
  };
};
