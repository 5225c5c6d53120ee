import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { isPassing } from '#shared/database/failures.ts';
import { holdLock } from '#shared/database/held-lock.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, NEXT, PREVIOUS, type ReadModelTarget } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { VERSIONS_LOCK } from '#shared/read-model/versions.ts';
import { readDefinition } from './definition.ts';
import { createTables, marksBeside } from './schema.ts';

/** The schema of a version that waits for its name, or for its removal. */
const ASIDE_SCHEMA = 'read_model_aside';

/** A version held by one process: a later holder has a higher epoch, which ends the writes of this one. */
export type Held = ReadModelTarget & { readonly epoch: number; readonly log: LogIdentity };

/**
 * Creates the tables to be filled, without the indexes that only reads need. Drops the leftovers of an
 * interrupted rebuild first.
 */
export const beginNext = async (pool: Pool, tables: Tables, log: LogIdentity): Promise<Held> => {
  const definition = await readDefinition(tables);
  return inTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ epoch: number }>(
      `insert into public.follower_checkpoint as held (follower, log, position, epoch) values ($1, $2, $3, 1)
       on conflict (follower) do update set log = $2, position = $3, epoch = held.epoch + 1
       returning epoch`,
      [NEXT.follower, log, START],
    );
    await connection.query(`drop schema if exists ${NEXT.schema} cascade`);
    await createTables(connection, NEXT.schema, {
      ...definition,
      marks: await marksBeside(connection, definition),
    });
    return { ...NEXT, log, epoch: rows[0]?.epoch ?? 1 };
  });
};

/** Takes hold of the previous version, if there is one. */
export const takePrevious = async (
  pool: Pool,
): Promise<(Held & { readonly position: Position }) | undefined> => {
  const { rows } = await pool.query<{ epoch: number; log: LogIdentity; position: Position }>(
    `update public.follower_checkpoint set epoch = epoch + 1
     where follower = $1 and to_regnamespace($2) is not null
     returning epoch, log, position`,
    [PREVIOUS.follower, PREVIOUS.schema],
  );
  return rows[0] && { ...PREVIOUS, ...rows[0] };
};

/**
 * Locks the version until the transaction ends, and returns its position. Throws if another process holds it.
 */
export const hold = async (
  connection: Connection,
  { follower, epoch }: Held,
  how: 'share' | 'update',
): Promise<Position> => {
  const { rows } = await connection.query<{ position: Position }>(
    `select position from public.follower_checkpoint where follower = $1 and epoch = $2 for ${how}`,
    [follower, epoch],
  );
  if (!rows[0])
    throw new StartRefused(
      'Another rebuild or rollback has taken over this version of the read model; this one ends.',
    );
  return rows[0].position;
};

/**
 * Makes the version live, and the live one the previous. The transaction has locked both, at the same
 * position.
 */
export const exchange = async (connection: Connection, incoming: Held, position: Position): Promise<void> => {
  const rename = (from: string, to: string) => connection.query(`alter schema ${from} rename to ${to}`);
  const { rows } = await connection.query<{ found: boolean }>(
    'select to_regnamespace($1) is not null as found',
    [PREVIOUS.schema],
  );
  if (rows[0]?.found) await rename(PREVIOUS.schema, ASIDE_SCHEMA);
  await rename(LIVE_SCHEMA, PREVIOUS.schema);
  await rename(incoming.schema === PREVIOUS.schema ? ASIDE_SCHEMA : incoming.schema, LIVE_SCHEMA);
  await connection.query(
    `insert into public.follower_checkpoint as held (follower, log, position, epoch) values ($1, $2, $3, 1)
     on conflict (follower) do update set log = $2, position = $3, epoch = held.epoch + 1`,
    [PREVIOUS.follower, incoming.log, position],
  );
};

/** The time to wait for the readers of a version before it is dropped, while new readers queue behind. */
const READERS_MAX_MS = 5_000;

/** Drops the version that was the previous one until the last exchange; returns whether it is gone. */
export const dropAside = async (pool: Pool): Promise<boolean> => {
  try {
    await inTransaction(pool, async (connection) => {
      await connection.query(`set local lock_timeout = ${READERS_MAX_MS}`);
      await connection.query(`drop schema if exists ${ASIDE_SCHEMA} cascade`);
    });
    return true;
  } catch (error) {
    if (!isPassing(error)) throw error;
    return false;
  }
};

/** Drops an unfinished build, unless another process holds it. */
export const dropNext = (pool: Pool, next: Held): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await hold(connection, next, 'update');
    await connection.query(`drop schema if exists ${NEXT.schema} cascade`);
  });

/** One rebuild or rollback at a time; undefined while there is another. */
export const lockVersions = (pool: Pool): Promise<AsyncDisposable | undefined> =>
  holdLock(pool, 'hashtext($1)', VERSIONS_LOCK);
