import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { createCodec } from '#shared/events/codec.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { LIVE_SCHEMA, PROJECTOR, type ReadModelBell } from '#shared/read-model/read-model.ts';
import { type Definition, readDefinition } from './definition.ts';
import { migrateProjector } from './migrate.ts';
import { observeProjector } from './observe-projector.ts';
import { joined, prepare } from './prepared.ts';
import { projectPrepared } from './project.ts';

export type ProjectorDependencies = Omit<FollowerOptions, 'name' | 'act' | 'prepare' | 'write' | 'committed'> & {
  readonly keys: KeyStore;
  /** Rung after every commit, for those who wait to read what they wrote. */
  readonly bell: Pick<ReadModelBell, 'ringEverywhere'>;
};

/** Keeps the read model up with the log, in one process at a time: rows and checkpoint change in one transaction. */
export const startProjector = async (dependencies: ProjectorDependencies): Promise<AsyncDisposable> => {
  const { pool, eventLog, keys, bell, log, metrics } = dependencies;
  await migrateProjector(pool);
  await createReadModel(pool, LIVE_SCHEMA);
  const codec = createCodec({ keys });
  const parkings = observeProjector({ pool, metrics });
  return startFollower({
    name: PROJECTOR,
    pool,
    eventLog,
    log,
    metrics,
    prepare: (events) => prepare(codec, events),
    async write(_events, connection, ready) {
      await useReadModel(connection, LIVE_SCHEMA);
      for (const parked of await projectPrepared(connection, joined(ready))) {
        parkings.inc();
        log.error({ parked }, 'An event could not be taken into the read model; its aggregate is parked.');
      }
    },
    committed: () => bell.ringEverywhere(),
  });
};

/** Until the end of the transaction, tables without a schema are those of this read model. */
export const useReadModel = async (connection: Connection, schema: string): Promise<void> => {
  await connection.query(`select set_config('search_path', $1, true)`, [schema]);
};

/** Makes the tables of a read model where they are not there yet; several processes may come at once. */
export const createReadModel = (pool: Pool, schema: string): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(hashtext('annals ' || $1))`, [schema]);
    const { rows } = await connection.query<{ found: boolean }>('select to_regnamespace($1) is not null as found', [schema]);
    if (rows[0]?.found) return;
    const { tables, indexes, fingerprint } = await readDefinition();
    await createTables(connection, schema, { tables, fingerprint });
    for (const index of indexes) await connection.query(index);
  });

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
