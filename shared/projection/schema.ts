import type { Answer, Statement } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { type Definition, readDefinition } from './definition.ts';
import { completedMark, isMadeBy, type Marks, marksIn, rowsMark } from './fingerprint.ts';
import { keepDigest, PROJECTING } from './kept-digest.ts';

/**
 * Writers to the live read model take this lock after their checkpoint, a swap takes it exclusively.
 * PostgreSQL releases the row locks of a transaction before other connections learn of a renamed schema, and
 * this lock only afterwards: without it, writes in between would go into the tables that were swapped out.
 */
export const holdNames = async (connection: Connection): Promise<void> => {
  await connection.query(`select pg_advisory_xact_lock(${NAMES})`);
};

const NAMES = `hashtext('annals names of the read model')`;

/** In one statement, because every commit needs it. */
export const USE_LIVE: Statement = {
  name: 'use-live-read-model',
  text: `select pg_advisory_xact_lock_shared(${NAMES}), set_config('search_path', '${LIVE_SCHEMA}', true), ${PROJECTING},
    ${marksIn(`'${LIVE_SCHEMA}'`)}`,
};

export const marksOf = (answer: Answer | undefined): Marks | undefined =>
  answer?.rows[0] as Marks | undefined;

/** Until the end of the transaction, tables without a schema name are those of this read model. */
export const useReadModel = async (connection: Connection, schema: string): Promise<void> => {
  await connection.query(`select set_config('search_path', $1, true), ${PROJECTING}`, [schema]);
};

/** Creates the tables of a read model unless they exist; several processes may try at once. */
export const createReadModel = (pool: Pool, tables: Tables, schema: string): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(hashtext('annals ' || $1))`, [schema]);
    const { rows } = await connection.query<{ found: boolean }>(
      'select to_regnamespace($1) is not null as found',
      [schema],
    );
    if (rows[0]?.found) return;
    const definition = await readDefinition(tables);
    await createTables(connection, schema, {
      ...definition,
      marks: await marksBeside(connection, definition),
    });
    for (const index of definition.indexes) await connection.query(index);
    if (tables.views.length > 0) await (await import('./views.ts')).keepViews(connection, tables);
    await keepDigest(connection, tables);
    if (schema === LIVE_SCHEMA) await resetCheckpoint(connection);
  });

/**
 * The marks for the tables of a definition: those of the live read model, if the same events produce the same
 * rows there.
 */
export const marksBeside = async (
  connection: Connection,
  { fingerprint }: Pick<Definition, 'fingerprint'>,
): Promise<Marks> => {
  const { rows } = await connection.query<Marks>(`select ${marksIn('$1')}`, [LIVE_SCHEMA]);
  return { schema: fingerprint.schema, rows: rowsMark(fingerprint, rows[0]) };
};

/**
 * Records additions of the declaration, and everything for the rows of an earlier release, so that a later
 * change is noticed.
 */
export const completeMarks = (pool: Pool, { fingerprint }: Pick<Definition, 'fingerprint'>): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await holdNames(connection);
    const { rows } = await connection.query<Marks>(`select ${marksIn('$1')}`, [LIVE_SCHEMA]);
    const mark = rows[0] && isMadeBy(fingerprint, rows[0]) ? completedMark(fingerprint, rows[0]) : undefined;
    if (mark !== undefined) await connection.query(`comment on table ${LIVE_SCHEMA}.digest is '${mark}'`);
  });

/**
 * If the tables were dropped, or left out of a backup, the whole log fills them again; a working owner finds
 * its checkpoint moved.
 */
const resetCheckpoint = async (connection: Connection): Promise<void> => {
  const { rows } = await connection.query<{ found: boolean }>(
    `select to_regclass('public.follower_checkpoint') is not null as found`,
  );
  if (!rows[0]?.found) return;
  await connection.query('update public.follower_checkpoint set position = $2 where follower = $1', [
    PROJECTOR,
    START,
  ]);
};

/** Creates the tables alone, in a transaction that uses them from then on. */
export const createTables = async (
  connection: Connection,
  schema: string,
  { tables, marks }: Pick<Definition, 'tables'> & { readonly marks: Partial<Marks> },
): Promise<void> => {
  await connection.query(`create schema ${schema}`);
  await connection.query(`comment on schema ${schema} is '${marks.schema}'`);
  await useReadModel(connection, schema);
  await connection.query(tables);
  if (marks.rows) await connection.query(`comment on table digest is '${marks.rows}'`);
};
