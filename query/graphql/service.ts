import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import type { GraphQLSchema } from 'graphql';
import type { Registry } from 'prom-client';
import type { FastPath } from '#edge/http/fast-path.ts';
import { largestFileOf } from '#kernel/decide/upload-fields.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { GraphqlSettings } from '#process/config.ts';
import type { ReceivingBlobs } from '#shared/blobs/set-upload.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { observePool } from '#shared/database/observe-pool.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { policyOf } from '#shared/policy.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import type { Replicas } from '../replicas/replicas.ts';
import { type Searches, UNCOMPILED } from '../rows/searches.ts';
import type { CompositionOptions } from './composition/composition.ts';
import { createDocuments, type Documents } from './documents/documents.ts';
import { createResolveDocument } from './documents/persisted.ts';
import { openPersistedDocuments } from './documents/persisted-documents.ts';
import { createAdmit } from './documents/run.ts';
import type { Execute } from './execute.ts';
import { createExecutor, type ExecutorOptions } from './executor.ts';
import { type GraphiqlOptions, graphiqlRoutes } from './graphiql/routes.ts';
import { createEndpoint } from './http/endpoint.ts';
import { answerGraphqlErrors } from './http/refusal.ts';
import { graphqlRoutes } from './http/routes.ts';
import { createPlanner, type Planner } from './planner/planner.ts';
import { schemaOf } from './schema/schema.ts';
import { schemaRoute } from './schema/schema-route.ts';
import type { Begin } from './sockets/operations.ts';
import type { Sockets } from './sockets/sockets.ts';
import { openSubscriptions, type SubscriptionDependencies } from './subscriptions/service.ts';

type GraphqlDependencies = Omit<SubscriptionDependencies, 'execute' | 'planner'> &
  Pick<
    ExecutorOptions,
    'domain' | 'eventLog' | 'keys' | 'snapshots' | 'uploadKey' | 'proof' | 'proofs' | 'aggregates'
  > & {
    readonly databaseUrl: string;
    readonly domain: Domain;
    readonly searches: Searches;
    /** Serve the operations that are one statement. */
    readonly replicas: Pick<Replicas, 'spread'>;
    /** Executes mutations. */
    readonly gateway: CommandGateway;
    /** Stores the files of mutations. */
    readonly blobs: ReceivingBlobs;
    readonly readPosition: Pick<ReadPosition, 'reaches'>;
    readonly settings: GraphqlSettings;
    readonly bodyBytesMax: number;
    /** The folder for the last known schemas of composed services. */
    readonly dataDir: string;
    readonly log: Log;
    readonly clock: Clock;
    readonly metrics: Registry;
    /** Runs before every operation. */
    readonly before: readonly RequestHandler[];
    /** The timeout of a mutation that waits until it can be read. */
    readonly visibleWithinMs: number;
    readonly urls: Omit<GraphiqlOptions, 'domain'>;
    /** Opens GraphQL over WebSocket, if it is served. */
    readonly openSockets?: ((begin: Begin) => Sockets) | undefined;
  };

type GraphqlService = AsyncDisposable & {
  readonly routes: Router;
  /** Comes after all routes, also those of other parts. */
  readonly refusals: ErrorRequestHandler;
  /** The fast path of the most frequent request. */
  readonly fastPath: FastPath;
  readonly upgrades: Sockets['upgrades'] | undefined;
};

/** A few connections that are always busy do more than many that compete for the processor. */
const CONNECTIONS_MAX = 4;

/** One endpoint for everything: a query is one statement, a mutation a command. */
export const openGraphql = async (dependencies: GraphqlDependencies): Promise<GraphqlService> => {
  const { eventLog, searches, replicas, settings, log, before, bodyBytesMax } = dependencies;
  const { limits, introspection, persistedDocuments: mode } = settings;
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(openOwnPool(dependencies));
  const { domain } = dependencies;
  const schema = schemaOf(domain);
  const resolveDocument = createResolveDocument({ mode, loaded: await openPersistedDocuments(pool) });
  const documents = createDocuments({ domain, schema, limits, suggests: introspection });
  const webhooks = await webhooksOf(domain);
  const executorOf = (each: GraphQLSchema) =>
    createExecutor({ ...dependencies, schema: each, pool, webhooks });
  const planners = replicas.spread(({ graphqlPool = pool }) =>
    createPlanner({ schema, policy: policyOf(domain), pool: graphqlPool, searches, eventLog }),
  );
  const own: Port = {
    documents,
    planner: { plan: (read) => planners.read((planner) => planner.plan(read)) },
    execute: executorOf(schema),
    schemaNow: () => schema,
  };
  const {
    documents: all,
    planner,
    execute,
    schemaNow,
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
  const admit = createAdmit({ documents: all, resolveDocument, introspection, costMax });
  const running = { admit, planner, execute, subscriptions, costMax, log };
  const fileBytesMax = largestFileOf(domain);
  const endpoint = graphqlRoutes({ ...running, bodyBytesMax, fileBytesMax, before });
  const { join } = subscriptions;
  const sockets = dependencies.openSockets?.({ endpoint: createEndpoint(running), join, before, eventLog });
  // Before the endpoint, whose media types hold below its path too. Without introspection, an editor is useless.
  const routes = Router().use(
    ...(sockets ? [sockets.routes] : []),
    ...(introspection ? [graphiqlRoutes({ domain, ...dependencies.urls })] : []),
    schemaRoute({ schemaNow, introspection }),
    endpoint.routes,
  );
  const refusals = answerGraphqlErrors(log, costMax);
  const fastPath: FastPath = { ...endpoint.fastPath, failures: [refusals] };
  const resources = opening.move();
  const upgrades = sockets?.upgrades;
  return { routes, refusals, fastPath, upgrades, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

/** A pool of its own, whose sessions are set to use generic plans for every caller. */
const openOwnPool = ({ databaseUrl: url, clock, metrics }: GraphqlDependencies): Pool => {
  const pool = openPool({
    ...{ url, applicationName: 'annals-graphql', clock, settings: UNCOMPILED },
    connectionsMax: CONNECTIONS_MAX,
    connectionsMin: CONNECTIONS_MAX,
  });
  observePool(metrics, 'annals-graphql', pool);
  return pool;
};

/** The resolvers of webhooks are loaded only where they are served. */
const webhooksOf = async (domain: Domain): Promise<ExecutorOptions['webhooks'] & {}> =>
  serves(domain, 'webhooks') ? (await import('./resolvers/of-webhooks.ts')).ofWebhooks(domain) : {};

/** How documents become results. */
type Port = {
  readonly documents: Documents;
  readonly planner: Planner;
  readonly execute: Execute;
  schemaNow(): GraphQLSchema;
};

/**
 * Operations that need no other service take our own path. The composition is loaded only if services are
 * composed.
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
    schemaNow: composition.schemaNow,
    [Symbol.asyncDispose]: () => composition[Symbol.asyncDispose](),
  };
};
