import type { RequestHandler } from 'express';
import { awaitConsistency } from '#edge/rest/reads/consistency.ts';
import type { Config } from '#process/config.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { openReadPosition, type ReadPosition } from '#shared/read-model/read-position.ts';
import { createSnapshots, migrateSnapshots, type Snapshots, unsavedTo } from '#shared/snapshots/snapshots.ts';
import type { DeliveriesOf } from './events/deliveries.ts';
import { type EventDependencies, type EventService, openEvents } from './events/service.ts';
import type { OpenApiOptions } from './openapi/document.ts';
import type { Proof, ProofDependencies } from './proof.ts';
import { openReplicas, type Replicas } from './replicas/replicas.ts';
import { openSearches, type Searches } from './rows/searches.ts';
import { uploadKey } from './uploads/signed-address.ts';
import { openViewFeed, type ViewFeed } from './views/feed.ts';

/** The dependencies of the query side. The caller owns them, and they outlive the service. */
export type QueryDependencies = {
  readonly databaseUrl: string;
  readonly blobs: Pick<Blobs, 'find' | 'read' | 'put' | 'remove'>;
  readonly changes: ChangeStream;
  /** Notifies when the read model has advanced. */
  readonly notifier: ReadModelNotifier;
  /** Executes the mutations of GraphQL. */
  readonly gateway: CommandGateway;
  readonly proof: Proof;
  readonly ownRoutes?: OwnRoutes | undefined;
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

/** Shared by the routes of the role and its parts. */
export type QueryResources = QueryDependencies &
  Pick<EventService, 'feed' | 'streams' | 'demandPresentRole'> & {
    readonly events: EventService;
    readonly views: ViewFeed;
    readonly snapshots: Snapshots;
    readonly readPosition: ReadPosition;
    readonly searches: Searches;
    readonly replicas: Replicas;
    /** Signs the addresses of uploads. */
    readonly uploadKey: Buffer;
    /** Runs before every read. */
    readonly before: readonly RequestHandler[];
    readonly visibleWithinMs: number;
  };

const VISIBLE_WITHIN_MS = 5_000;

/** Creates the tables of this role and opens what several routes share. */
export const openResources = async (
  dependencies: QueryDependencies,
  opening: AsyncDisposableStack,
  deliveriesOf: DeliveriesOf | undefined,
): Promise<QueryResources> => {
  const { domain, pool, eventLog, notifier, config, clock } = dependencies;
  const { visibleWithinMs = VISIBLE_WITHIN_MS } = dependencies;
  await migrateAudit(pool);
  await migrateOperations(pool);
  await migrateSnapshots(pool);
  const snapshots = createSnapshots({ ...dependencies, reportUnsaved: unsavedTo(dependencies.log) });
  const readPosition = opening.use(openReadPosition({ pool, eventLog, notifier, clock }));
  const searches = opening.use(openSearches(dependencies));
  const before = [awaitConsistency({ readPosition, eventLog, waitMaxMs: visibleWithinMs })];
  const events = opening.use(
    await openEvents({ ...dependencies, snapshots, settings: config.streams, before, deliveriesOf }),
  );
  const views = opening.use(
    openViewFeed({ domain, pool, notifier, clock, moveOnMs: config.streams.heartbeatMs }),
  );
  const replicas = opening.use(openReplicas({ ...dependencies, urls: config.readDatabaseUrls ?? [] }));
  const { feed, streams, demandPresentRole } = events;
  return {
    ...dependencies,
    ...{ feed, streams, demandPresentRole, events, views },
    ...{ snapshots, readPosition, searches, replicas, before, visibleWithinMs },
    uploadKey: uploadKey(dependencies.masterKey),
  };
};
