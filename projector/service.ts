import { readFile } from 'node:fs/promises';
import { Counter, Gauge } from 'prom-client';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { createCodec } from '#shared/events/codec.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { project } from './project.ts';

export type ProjectorDependencies = Omit<FollowerOptions, 'name' | 'act' | 'write'> & { readonly keys: KeyStore };

/** The schema that reads are served from. */
const LIVE = 'read_model';

/** Keeps the read model up with the log, in one process at a time: rows and checkpoint change in one transaction. */
export const startProjector = async (dependencies: ProjectorDependencies): Promise<AsyncDisposable> => {
  const { pool, eventLog, keys, log, metrics } = dependencies;
  await createReadModel(pool, LIVE);
  const codec = createCodec({ keys });
  const parkings = new Counter({ name: 'annals_projector_parkings_total', help: 'Aggregates that were parked.', registers: [metrics] });
  new Gauge({
    name: 'annals_projector_parked',
    help: 'Aggregates that stand still because one of their events could not be taken in.',
    registers: [metrics],
    async collect() {
      const { rows } = await pool.query<{ parked: number }>(`select count(*)::integer as parked from ${LIVE}.parked`);
      this.set(rows[0]?.parked ?? 0);
    },
  });
  return startFollower({
    name: 'projector',
    pool,
    eventLog,
    log,
    metrics,
    async write(events, connection) {
      await useReadModel(connection, LIVE);
      for (const parked of await project(connection, codec, events)) {
        parkings.inc();
        log.error({ parked }, 'An event could not be taken into the read model; its aggregate is parked.');
      }
    },
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
    await connection.query(`create schema ${schema}`);
    await useReadModel(connection, schema);
    await connection.query(await readFile(new URL('./read-model.sql', import.meta.url), 'utf8'));
  });
