import type { RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import type { Health } from '#edge/http/health.ts';
import { awaitConsistency } from '#edge/rest/reads/consistency.ts';
import type { Config } from '#process/config.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import type { UploadStorage } from '#shared/blobs/blobs.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { migrateEventIndex } from '#shared/event-index/event-index.ts';
import { deriveKey } from '#shared/keys/master-key.ts';
import { openIfLogged } from '#shared/read-log/open-if-logged.ts';
import type { ReadLog } from '#shared/read-log/read-log.ts';
import type { ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { openReadPosition, type ReadPosition } from '#shared/read-model/read-position.ts';
import { createSnapshots, migrateSnapshots, type Snapshots, unsavedTo } from '#shared/snapshots/snapshots.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { whenAsked } from '#shared/when-asked.ts';
import type { DeliveriesOf } from './events/deliveries.ts';
import type { EventDependencies, EventService } from './events/service.ts';
import type { OpenApiOptions } from './openapi/document.ts';
import type { Proof, ProofDependencies } from './proof.ts';
import type { ReplicaOptions, Replicas, Spread } from './replicas/replicas.ts';
import { openSearches, type Searches } from './rows/searches.ts';

/** The dependencies of the query side. The caller owns them, and they outlive the service. */
export type QueryDependencies = {
  readonly databaseUrl: string;
  readonly blobs: Pick<UploadStorage, 'find' | 'read' | 'put' | 'remove' | 'scan'>;
  readonly changes: ChangeStream;
  /** Notifies when the read model has advanced. */
  readonly notifier: ReadModelNotifier;
  /** Executes the mutations of GraphQL. */
  readonly gateway: CommandGateway;
  readonly ownRoutes?: OwnRoutes | undefined;
  /** The timeout of a read that waits for a write. */
  readonly visibleWithinMs?: number;
  /** The timeout of a read without a token that waits for a just created item. */
  readonly creatorWaitsMs?: number;
  /** The settings of GraphQL, and those that the OpenAPI document states of this installation. */
  readonly config: Omit<OpenApiOptions, 'domain'> &
    Pick<Config, 'graphql' | 'limits' | 'dataDir' | 'streams'> &
    Partial<Pick<Config, 'readDatabaseUrls' | 'audit' | 'corsOrigins'>>;
} & ProofDependencies &
  Pick<EventDependencies, 'keys'> & {
    /** Signals that the process begins to stop. */
    readonly health: Pick<Health, 'onDrain'>;
    /** Re-checks whether the caller of a long response is still admitted. */
    readonly access: LastingAccess;
    readonly metrics: Registry;
    /** Off unless given. */
    readonly tracing?: Tracing;
  };

/** Shared by the routes of the role and its parts. */
export type QueryResources = QueryDependencies & {
  /** Undefined if the proof is not served. */
  readonly proof: Proof | undefined;
  readonly events: () => Promise<EventService>;
  readonly snapshots: Snapshots;
  readonly readPosition: ReadPosition;
  readonly searches: Searches;
  readonly replicas: Replicas;
  /** Signs the addresses of uploads. */
  readonly uploadKey: Buffer;
  /** Runs before every read. */
  readonly before: readonly RequestHandler[];
  readonly visibleWithinMs: number;
  /** Undefined if the domain logs no reads. */
  readonly readLog: ReadLog | undefined;
};

const VISIBLE_WITHIN_MS = 5_000;

type OfParts = { readonly deliveriesOf: DeliveriesOf | undefined; readonly proof: Proof | undefined };

/** Creates the tables of this role and opens what several routes share. */
export const openResources = async (
  dependencies: QueryDependencies,
  opening: AsyncDisposableStack,
  { deliveriesOf, proof }: OfParts,
): Promise<QueryResources> => {
  const { pool, eventLog, notifier, config, clock } = dependencies;
  const { visibleWithinMs = VISIBLE_WITHIN_MS } = dependencies;
  await migrateOperations(pool);
  await migrateSnapshots(pool);
  await migrateEventIndex(pool);
  const snapshots = createSnapshots({ ...dependencies, reportUnsaved: unsavedTo(dependencies.log) });
  const readPosition = opening.use(openReadPosition({ pool, eventLog, notifier, clock }));
  const searches = opening.use(openSearches(dependencies));
  const before = [awaitConsistency({ readPosition, eventLog, waitMaxMs: visibleWithinMs })];
  const events = whenAsked(async () =>
    (await import('./events/service.ts')).openEvents({
      ...{ ...dependencies, snapshots, deliveriesOf, proof },
      publicUrl: config.publicUrl,
    }),
  );
  const readLog = await openIfLogged({ ...dependencies, keepDays: config.audit?.keepReadsDays });
  if (readLog) opening.use(readLog);
  const replicas = opening.use(await openReplicas({ ...dependencies, urls: config.readDatabaseUrls ?? [] }));
  return {
    ...dependencies,
    ...{ proof, events, snapshots, readPosition, searches, replicas, before, visibleWithinMs, readLog },
    uploadKey: deriveKey(dependencies.masterKey, 'upload-address'),
  };
};

/** The replicas of READ_DATABASE_URL. */
const openReplicas = async (options: ReplicaOptions): Promise<Replicas> =>
  options.urls.length === 0 ? NONE : (await import('./replicas/spread.ts')).spreadOverReplicas(options);

/** Without replicas, reads cost nothing more. */
const NONE: Replicas = { spread: (make) => onPrimaryAlone(make({})), async [Symbol.asyncDispose]() {} };

const onPrimaryAlone = <Reads>(reads: Reads): Spread<Reads> => ({
  of: (part) => onPrimaryAlone(part(reads)),
  read: (work) => work(reads),
});
