import type { LogIdentity, Position } from '#shared/brands.ts';
import { isPassing } from '#shared/database/failures.ts';
import { holdLock } from '#shared/database/held-lock.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { START } from '#shared/event-log/event-log.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { NEXT, type Place, PREVIOUS, VERSIONS_LOCK } from '#shared/read-model/versions.ts';
import { readDefinition } from './definition.ts';
import { createTables, marksBeside } from './schema.ts';

/** Where a version waits for its name, or for its end. */
const ASIDE_SCHEMA = 'read_model_aside';

/**
 * A version in the hands of one process: whoever takes it later has a higher epoch, and this one then writes
 * nothing more.
 */
export type Held = Place & { readonly epoch: number; readonly log: LogIdentity };

/**
 * Makes the tables to be filled, without the indexes that only reads need. What an interrupted rebuild left
 * goes first.
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

/** Takes the previous version in hand, if there is one. */
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
 * Holds the version until the transaction ends, and answers where it is. Throws where it is in other hands.
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
      'Another rebuild or rollback has taken this version of the read model in hand; it goes on, and this one ends.',
    );
  return rows[0].position;
};

/**
 * Makes the version live, and the live one the previous. The transaction holds both where they are: at the
 * same position.
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

/** How long the readers of a version that is to be dropped are waited for, with those that wait behind. */
const READERS_MAX_MS = 5_000;

/** Drops the version that was the previous one until the last exchange; answers whether it is gone. */
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

/** Drops what was built so far, unless it is in other hands. */
export const dropNext = (pool: Pool, next: Held): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await hold(connection, next, 'update');
    await connection.query(`drop schema if exists ${NEXT.schema} cascade`);
  });

/** One rebuild or rollback at a time; undefined while there is another. */
export const lockVersions = (pool: Pool): Promise<AsyncDisposable | undefined> =>
  holdLock(pool, 'hashtext($1)', VERSIONS_LOCK);
