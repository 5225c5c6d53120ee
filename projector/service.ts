import type { Position } from '#kernel/base/brands.ts';
import { traceIdOf } from '#kernel/base/traceparent.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { sendPipelined } from '#shared/database/pipeline.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { reportLostKeys } from '#shared/events/report-lost-keys.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import { orUnknown } from '#shared/follower/observe-follower.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { NotReady } from '#shared/not-ready.ts';
import { isOfThisRelease, readDefinition } from '#shared/projection/definition.ts';
import { isMadeBy } from '#shared/projection/fingerprint.ts';
import { exceptionsIn, findExceptions } from '#shared/projection/parked.ts';
import { joined, prepare } from '#shared/projection/prepared.ts';
import { projectPrepared } from '#shared/projection/project.ts';
import { completeMarks, createReadModel, marksOf, USE_LIVE } from '#shared/projection/schema.ts';
import { Counter, Gauge, type Registry } from '#shared/prometheus.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import type { ReadModelNotifier } from '#shared/read-model/read-model.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';
import { traceBatches } from '#shared/tracing/traced-batches.ts';
import { NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { migrateProjector } from './migrate.ts';

type ProjectorDependencies = Omit<
  FollowerOptions,
  'name' | 'act' | 'prepare' | 'write' | 'committed' | 'isLasting'
> & {
  readonly domain: Domain;
  readonly keys: KeyStore;
  /** Notifies after every commit, for requests that wait to read their writes. */
  readonly notifier: Pick<ReadModelNotifier, 'announce'>;
  /** Off by default. */
  readonly tracing?: Tracing;
};

/**
 * Lets a commit apply several events under steady writing; nobody notices the delay, and each commit costs
 * the same.
 */
const REST_MS = 4;

/**
 * Applies the log to the read model, in one process at a time: rows and checkpoint change in one transaction.
 */
export const startProjector = async (dependencies: ProjectorDependencies): Promise<AsyncDisposable> => {
  const { domain, pool, eventLog, notifier, log, metrics, clock, tracing = NO_TRACING } = dependencies;
  const tables = tablesOf(domain);
  await migrateProjector(pool);
  await createReadModel(pool, tables, LIVE_SCHEMA);
  const definition = await readDefinition(tables);
  await completeMarks(pool, definition);
  if (!(await isOfThisRelease(pool, tables, LIVE_SCHEMA)))
    log.warn(
      'The tables of the read model belong to another release: run npm run annals -- projection rebuild.',
    );
  const codec = createCodec(dependencies);
  const parkings = observeProjector({ pool, metrics });
  const batches = traceBatches(tracing, 'project');
  let parked: { readonly parked: Parked; readonly traceId: string | undefined }[] = [];
  await using resources = new AsyncDisposableStack();
  const lostKeys = resources.use(reportLostKeys(log, 'Aggregates are parked, because'));
  const follower = await startFollower({
    name: PROJECTOR,
    restMs: REST_MS,
    isLasting: true,
    pool,
    eventLog,
    log,
    metrics,
    clock,
    prepare: (events) => prepare({ codec, tables }, events),
    async write(events, connection, ready) {
      batches.begin(events);
      const streams = new Set(events.filter(tables.isProjected).map(({ stream }) => stream));
      const [live, found] = await sendPipelined(connection, [USE_LIVE, findExceptions(streams)]);
      // A failure releases the lease: with a new release, a rebuild puts its tables in place while both are
      // running.
      if (!isMadeBy(definition.fingerprint, marksOf(live)))
        throw new NotReady('The tables of the read model belong to another release');
      parked = (await projectPrepared(connection, tables, joined(ready), exceptionsIn(found))).map(
        (each) => ({
          parked: each,
          traceId: traceIdIn(events, each.position),
        }),
      );
    },
    committed: (position) => {
      notifier.announce(eventLog.identity, position);
      batches.committed();
      for (const each of parked.splice(0)) {
        parkings.inc();
        if (lostKeys.count(each.parked.reason)) continue;
        log.error(each, 'An event could not be applied to the read model; its aggregate is parked.');
      }
    },
  });
  resources.use(follower);
  return resources.move();
};

const traceIdIn = (events: readonly RecordedEvent[], position: Position): string | undefined =>
  traceIdOf(traceOf(events.find((event) => event.position === position)));

/**
 * Reports parked and skipped items, whichever process projects. Returns the counter of parkings by this
 * process.
 */
export const observeProjector = ({ pool, metrics }: { pool: Pool; metrics: Registry }): Counter => {
  const counted = async (table: string): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(`select count(*) from ${table}`);
    return rows[0]?.count ?? 0;
  };
  new Gauge({
    name: 'annals_projector_parked',
    help: 'Aggregates that are parked, because one of their events could not be applied to the read model.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(() => counted(`${LIVE_SCHEMA}.parked`)));
    },
  });
  new Gauge({
    name: 'annals_projector_skipped',
    help: 'Events that the read model skips permanently, by “projection release”.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(() => counted('public.projection_skip')));
    },
  });
  return new Counter({
    name: 'annals_projector_parkings_total',
    help: 'Aggregates that were parked.',
    registers: [metrics],
  });
};
