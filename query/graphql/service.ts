import type { ErrorRequestHandler, RequestHandler, Router } from 'express';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { GraphqlSettings } from '#shared/config.ts';
import { openPool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import { createDocuments } from './documents/documents.ts';
import { createResolveDocument } from './documents/persisted.ts';
import { openPersistedDocuments } from './documents/persisted-documents.ts';
import { answerGraphqlErrors } from './http/refusal.ts';
import { graphqlRoutes } from './http/routes.ts';
import { createPlanner } from './planner/planner.ts';
import { createExecutor } from './resolvers/executor.ts';
import { createAdmit } from './run.ts';
import { schema } from './schema.ts';

export type GraphqlDependencies = {
  readonly databaseUrl: string;
  readonly eventLog: Pick<EventLog, 'identity'>;
  /** Where mutations go. */
  readonly gateway: CommandGateway;
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly settings: GraphqlSettings;
  readonly bodyBytesMax: number;
  readonly log: Log;
  /** Runs before every operation. */
  readonly before: readonly RequestHandler[];
  readonly visibleWithinMs?: number;
};

export type GraphqlService = AsyncDisposable & {
  readonly routes: Router;
  /** Stands behind all routes, of the other parts too. */
  readonly refusals: ErrorRequestHandler;
};

const VISIBLE_WITHIN_MS = 5_000;
/** Few connections that are always busy do more than many that take turns on the processor. */
const CONNECTIONS_MAX = 4;

/** One endpoint for everything: queries by one statement each, mutations by commands. */
export const openGraphql = async (dependencies: GraphqlDependencies): Promise<GraphqlService> => {
  const { databaseUrl, settings, log, before, bodyBytesMax, visibleWithinMs = VISIBLE_WITHIN_MS } = dependencies;
  const { limits, introspection, persistedDocuments: mode } = settings;
  await using opening = new AsyncDisposableStack();
  // Of its own, because its connections are set up for plans that serve every caller.
  const pool = opening.use(openPool({ url: databaseUrl, applicationName: 'annals-graphql', connectionsMax: CONNECTIONS_MAX }));
  const resolveDocument = createResolveDocument({ mode, loaded: await openPersistedDocuments(pool) });
  const documents = createDocuments({ schema, limits, suggests: introspection });
  const { costMax } = limits;
  const routes = graphqlRoutes({
    admit: createAdmit({ schema, documents, resolveDocument, introspection, costMax }),
    planner: createPlanner({ schema, pool }),
    execute: createExecutor({ ...dependencies, schema, pool, visibleWithinMs }),
    costMax,
    bodyBytesMax,
    log,
    before,
  });
  const resources = opening.move();
  return { routes, refusals: answerGraphqlErrors(log, costMax), [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
