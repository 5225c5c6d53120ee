import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Registry } from 'prom-client';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { observePool } from '#shared/database/observe-pool.ts';
import { openPool } from '#shared/database/pool.ts';
import type { ShortWay } from '#shared/http/short-way.ts';
import { policyOf } from '#shared/policy.ts';
import type { GraphqlSettings } from '#shared/process/config.ts';
import type { Log } from '#shared/process/log.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import type { Replicas } from '../replicas/replicas.ts';
import { type Searches, UNCOMPILED } from '../searches.ts';
import type { CompositionOptions } from './composition/composition.ts';
import { createDocuments, type Documents } from './documents/documents.ts';
import { createResolveDocument } from './documents/persisted.ts';
import { openPersistedDocuments } from './documents/persisted-documents.ts';
import type { Execute } from './execute.ts';
import { graphiqlRoutes } from './graphiql/routes.ts';
import { answerGraphqlErrors } from './http/refusal.ts';
import { graphqlRoutes } from './http/routes.ts';
import { createPlanner, type Planner } from './planner/planner.ts';
import { createExecutor, type ExecutorOptions } from './resolvers/executor.ts';
import { createAdmit } from './run.ts';
import { schemaOf } from './schema.ts';
import { openSubscriptions, type SubscriptionDependencies } from './subscriptions/service.ts';

export type GraphqlDependencies = Omit<SubscriptionDependencies, 'execute' | 'planner'> &
  Pick<ExecutorOptions, 'domain' | 'eventLog' | 'keys' | 'snapshots' | 'uploadKey'> & {
    readonly databaseUrl: string;
    readonly domain: Domain;
    readonly searches: Searches;
    /** Where operations that are one statement are read. */
    readonly replicas: Pick<Replicas, 'spread'>;
    /** Where mutations go. */
    readonly gateway: CommandGateway;
    /** Where the pictures go that come with mutations. */
    readonly blobs: Pick<Blobs, 'put' | 'remove'>;
    readonly readPosition: Pick<ReadPosition, 'reaches'>;
    readonly settings: GraphqlSettings;
    readonly bodyBytesMax: number;
    /** Where what is known of composed services is kept. */
    readonly dataDir: string;
    readonly log: Log;
    readonly metrics: Registry;
    /** Runs before every operation. */
    readonly before: readonly RequestHandler[];
    /** How long a mutation waits until what it did can be read. */
    readonly visibleWithinMs: number;
  };

export type GraphqlService = AsyncDisposable & {
  readonly routes: Router;
  /** Stands behind all routes, of the other parts too. */
  readonly refusals: ErrorRequestHandler;
  /** Of the most frequent request. */
  readonly shortWay: ShortWay;
};

/** Few connections that are always busy do more than many that take turns on the processor. */
const CONNECTIONS_MAX = 4;

/** One endpoint for everything: queries by one statement each, mutations by commands. */
export const openGraphql = async (dependencies: GraphqlDependencies): Promise<GraphqlService> => {
  const { databaseUrl, searches, replicas, settings, log, before, bodyBytesMax } = dependencies;
  const { limits, introspection, persistedDocuments: mode } = settings;
  await using opening = new AsyncDisposableStack();
  // Of its own, because its connections are set up for plans that serve every caller.
  const pool = opening.use(
    openPool({
      url: databaseUrl,
      applicationName: 'annals-graphql',
      connectionsMax: CONNECTIONS_MAX,
      connectionsMin: CONNECTIONS_MAX,
      settings: UNCOMPILED,
    }),
  );
  observePool(dependencies.metrics, 'annals-graphql', pool);
  const { domain } = dependencies;
  const schema = schemaOf(domain);
  const resolveDocument = createResolveDocument({ mode, loaded: await openPersistedDocuments(pool) });
  const documents = createDocuments({ domain, schema, limits, suggests: introspection });
  const executorOf = (each: GraphQLSchema) => createExecutor({ ...dependencies, schema: each, pool });
  const planners = replicas.spread(({ graphqlPool = pool }) =>
    createPlanner({ schema, policy: policyOf(domain), pool: graphqlPool, searches }),
  );
  const own: Port = {
    documents,
    planner: { plan: (read) => planners.read((planner) => planner.plan(read)) },
    execute: executorOf(schema),
  };
  const {
    documents: all,
    planner,
    execute,
  } = settings.compose
    ? opening.use(
        await composeWith(own, {
          ...dependencies,
          setting: settings.compose,
          schema,
          limits,
          suggests: introspection,
          executorOf,
        }),
      )
    : own;
  const { costMax } = limits;
  const subscriptions = opening.use(
    openSubscriptions({ ...dependencies, planner: own.planner, execute: own.execute }),
  );
  const endpoint = graphqlRoutes({
    admit: createAdmit({ documents: all, resolveDocument, introspection, costMax }),
    planner,
    execute,
    subscriptions,
    costMax,
    bodyBytesMax,
    log,
    before,
  });
  // Before the endpoint, which takes the same path; without the schema, an editor is of no use.
  const routes = Router().use(...(introspection ? [graphiqlRoutes(domain)] : []), endpoint.routes);
  const refusals = answerGraphqlErrors(log, costMax);
  const shortWay: ShortWay = { ...endpoint.shortWay, failures: [refusals] };
  const resources = opening.move();
  return { routes, refusals, shortWay, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** How documents become answers. */
type Port = { readonly documents: Documents; readonly planner: Planner; readonly execute: Execute };

/**
 * Our own way for all that asks for nothing of others; only where others are composed, what it takes is
 * loaded.
 */
const composeWith = async (
  own: Port,
  options: Omit<CompositionOptions, 'documents'>,
): Promise<Port & AsyncDisposable> => {
  const { openComposition } = await import('./composition/composition.ts');
  const composition = await openComposition({ ...options, documents: own.documents });
  return {
    documents: composition.documents,
    planner: { plan: async (read) => (composition.has(read.document) ? undefined : own.planner.plan(read)) },
    execute: (runnable, facts) =>
      (composition.has(runnable.prepared.document) ? composition : own).execute(runnable, facts),
    [Symbol.asyncDispose]: () => composition[Symbol.asyncDispose](),
  };
};
