import { Counter, Gauge, type Registry } from 'prom-client';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Position } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { tellLostKeys } from '#shared/events/tell-lost-keys.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import { orUnknown } from '#shared/follower/observe-follower.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { NotReady } from '#shared/not-ready.ts';
import { LIVE_SCHEMA, PROJECTOR, type ReadModelBell } from '#shared/read-model/read-model.ts';
import { type Tables, tablesOf } from '#shared/read-model/tables.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';
import { traceBatches } from '#shared/tracing/traced-batches.ts';
import { traceIdOf } from '#shared/tracing/traceparent.ts';
import { NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { type Definition, isOfThisRelease, readDefinition } from './definition.ts';
import { keepDigest, PROJECTING } from './kept-digest.ts';
import { migrateProjector } from './migrate.ts';
import { joined, prepare } from './prepared.ts';
import { projectPrepared } from './project.ts';

export type ProjectorDependencies = Omit<FollowerOptions, 'name' | 'act' | 'prepare' | 'write' | 'committed' | 'isLasting'> & {
  readonly domain: Domain;
  readonly keys: KeyStore;
  /** Rung after every commit, for those who wait to read what they wrote. */
  readonly bell: Pick<ReadModelBell, 'ringEverywhere'>;
  /** Off unless given. */
  readonly tracing?: Tracing;
};

/** Under steady writing a commit takes in several events; it shows to nobody, and each costs the same. */
const REST_MS = 4;

/** Keeps the read model up with the log, in one process at a time: rows and checkpoint change in one transaction. */
export const startProjector = async (dependencies: ProjectorDependencies): Promise<AsyncDisposable> => {
  const { domain, pool, eventLog, bell, log, metrics, tracing = NO_TRACING } = dependencies;
  const tables = tablesOf(domain);
  await migrateProjector(pool);
  await createReadModel(pool, tables, LIVE_SCHEMA);
  if (!(await isOfThisRelease(pool, tables, LIVE_SCHEMA)))
    log.warn('The tables of the read model are of another release: npm run annals -- projection rebuild makes those of this one.');
  const codec = createCodec(dependencies);
  const parkings = observeProjector({ pool, metrics });
  const batches = traceBatches(tracing, 'project');
  const { fingerprint } = await readDefinition(tables);
  await using resources = new AsyncDisposableStack();
  const lostKeys = resources.use(tellLostKeys(log, 'Aggregates are parked, because'));
  const follower = await startFollower({
    name: PROJECTOR,
    restMs: REST_MS,
    isLasting: true,
    pool,
    eventLog,
    log,
    metrics,
    prepare: (events) => prepare({ codec, tables }, events),
    async write(events, connection, ready) {
      batches.begin(events);
      const { rows } = await connection.query<{ fingerprint: string | null }>(USE_LIVE);
      // Whoever fails lets go of the lease: with a new release, a rebuild puts its tables in place while both are running.
      if (rows[0]?.fingerprint !== fingerprint) throw new NotReady('The tables of the read model are of another release');
      for (const parked of await projectPrepared(connection, tables, joined(ready))) {
        parkings.inc();
        if (lostKeys.count(parked.reason)) continue;
        log.error(
          { parked, traceId: traceIdIn(events, parked.position) },
          'An event could not be taken into the read model; its aggregate is parked.',
        );
      }
    },
    committed: () => {
      bell.ringEverywhere();
      batches.committed();
    },
  });
  resources.use(follower);
  return resources.move();
};

const traceIdIn = (events: readonly RecordedEvent[], position: Position): string | undefined =>
  traceIdOf(traceOf(events.find((event) => event.position === position)));

/**
 * Whoever writes into the live read model takes this after its checkpoint, a swap exclusively. PostgreSQL lets go of the rows of a
 * transaction before other connections hear of a name that it changed, and of this only afterwards: without it, what is written in
 * between would go into the tables that were swapped out.
 */
export const holdNames = async (connection: Connection): Promise<void> => {
  await connection.query(`select pg_advisory_xact_lock(${NAMES})`);
};

const NAMES = `hashtext('annals names of the read model')`;

/** All at once, because it is done for every commit. */
const USE_LIVE = `select pg_advisory_xact_lock_shared(${NAMES}), set_config('search_path', '${LIVE_SCHEMA}', true), ${PROJECTING},
  obj_description(to_regnamespace('${LIVE_SCHEMA}'), 'pg_namespace') as fingerprint`;

/** Until the end of the transaction, tables without a schema are those of this read model. */
export const useReadModel = async (connection: Connection, schema: string): Promise<void> => {
  await connection.query(`select set_config('search_path', $1, true), ${PROJECTING}`, [schema]);
};

/** Makes the tables of a read model where they are not there yet; several processes may come at once. */
export const createReadModel = (pool: Pool, tables: Tables, schema: string): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(hashtext('annals ' || $1))`, [schema]);
    const { rows } = await connection.query<{ found: boolean }>('select to_regnamespace($1) is not null as found', [schema]);
    if (rows[0]?.found) return;
    const definition = await readDefinition(tables);
    await createTables(connection, schema, definition);
    for (const index of definition.indexes) await connection.query(index);
    await keepDigest(connection, tables);
    if (schema === LIVE_SCHEMA) await beginAnew(connection);
  });

/** Tables that were dropped, or left out of a backup, are filled from the whole log again; an owner at work finds its checkpoint moved. */
const beginAnew = async (connection: Connection): Promise<void> => {
  const { rows } = await connection.query<{ found: boolean }>(`select to_regclass('public.follower_checkpoint') is not null as found`);
  if (!rows[0]?.found) return;
  await connection.query('update public.follower_checkpoint set position = $2 where follower = $1', [PROJECTOR, START]);
};

/** Makes the tables alone, in a transaction in which they are from then on those that are used. */
export const createTables = async (
  connection: Connection,
  schema: string,
  { tables, fingerprint }: Pick<Definition, 'tables' | 'fingerprint'>,
): Promise<void> => {
  await connection.query(`create schema ${schema}`);
  await connection.query(`comment on schema ${schema} is '${fingerprint}'`);
  await useReadModel(connection, schema);
  await connection.query(tables);
};

/** Tells what is left out of the read model, whoever projects. Answers with the counter of parkings by this process. */
export const observeProjector = ({ pool, metrics }: { pool: Pool; metrics: Registry }): Counter => {
  const counted = async (table: string): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(`select count(*) from ${table}`);
    return rows[0]?.count ?? 0;
  };
  new Gauge({
    name: 'annals_projector_parked',
    help: 'Aggregates that are out of the read model because one of their events could not be taken in.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(() => counted(`${LIVE_SCHEMA}.parked`)));
    },
  });
  new Gauge({
    name: 'annals_projector_skipped',
    help: 'Events that are left out of the read model for good, by “projection release”.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(() => counted('public.projection_skip')));
    },
  });
  return new Counter({ name: 'annals_projector_parkings_total', help: 'Aggregates that were parked.', registers: [metrics] });
};
