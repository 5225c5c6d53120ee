import type { LogIdentity, Position } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { readDefinition } from '../projector/definition.ts';
import { createTables } from '../projector/service.ts';

/** What a scratch schema says of itself, in its comment. Nothing live is ever marked so. */
export type Mark = {
  readonly use: 'replay' | 'verify';
  readonly log: LogIdentity;
  /** What it holds the log up to. */
  readonly position: Position;
  readonly madeAt: string;
  /** Until it is, it belongs to the process that fills it, and goes with that. */
  readonly isWhole: boolean;
  /** Of users, once it is whole. */
  readonly users?: number;
};

/** A read model beside the live one, that nobody serves anything from. */
export type Scratch = AsyncDisposable & {
  readonly schema: string;
  /** From now on it stays when the process ends. */
  keep(mark: Mark): Promise<void>;
};

const MARK = 'annals scratch ';
const NAME = /^(?:replay|verify)_[a-z0-9_]{1,50}$/;

/**
 * Makes the tables of a read model in a schema of their own: without the search column and the indexes that only reads need, and
 * unlogged, because after a crash it is made again. It is dropped at the end unless it is kept, and where this process is killed,
 * by the next that makes one.
 */
export const makeScratch = async (pool: Pool, schema: string, mark: Mark): Promise<Scratch> => {
  if (!NAME.test(schema)) throw new StartRefused(`A replay’s schema is named replay_ and then letters, digits and _, not “${schema}”.`);
  await dropAbandoned(pool);
  await using opening = new AsyncDisposableStack();
  const owner = opening.use(await own(pool, schema));
  if (!owner) throw new StartRefused(`Another process is filling ${schema} just now.`);
  const { tables } = await readDefinition();
  await inTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ found: boolean }>('select to_regnamespace($1) is not null as found', [schema]);
    if (rows[0]?.found)
      throw new StartRefused(`${schema} is there already: look at it, or drop it first (replay --drop --schema ${schema}).`);
    const unlogged = tables.replaceAll(/^create table /gm, 'create unlogged table ');
    await createTables(connection, schema, { tables: unlogged, fingerprint: textOf(mark) });
    await connection.query('alter table articles drop column search');
  });
  let isKept = false;
  opening.defer(async () => {
    // Where that fails, the next that makes one drops it.
    if (!isKept) await pool.query(`drop schema if exists ${schema} cascade`).catch(() => {});
  });
  const resources = opening.move();
  return {
    schema,
    async keep(kept) {
      await pool.query(`comment on schema ${schema} is '${textOf({ ...kept, isWhole: true })}'`);
      isKept = true;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** Nothing in it has an apostrophe. */
const textOf = (mark: Mark): string => MARK + JSON.stringify(mark);

export type Found = Mark & {
  readonly schema: string;
  readonly bytes: number;
  /** By a crash of the server, which keeps nothing of an unlogged table. */
  readonly isEmptied: boolean;
};

/** The scratch schemas that there are. */
export const listScratch = async (pool: Pool): Promise<readonly Found[]> => {
  const { rows } = await pool.query<{ schema: string; text: string; bytes: number }>(
    `select nspname as schema, obj_description(n.oid, 'pg_namespace') as text,
       (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c where relnamespace = n.oid and relkind = 'r') as bytes
     from pg_namespace n
     where nspname ~ '^(replay|verify)_' and obj_description(n.oid, 'pg_namespace') like $1
     order by nspname`,
    [`${MARK}{%`],
  );
  const found = rows.map(({ schema, text, bytes }) => ({ schema, bytes, ...(JSON.parse(text.slice(MARK.length)) as Mark) }));
  return Promise.all(found.map(async (each) => ({ ...each, isEmptied: (each.users ?? 0) > 0 && !(await hasUsers(pool, each.schema)) })));
};

const hasUsers = async (pool: Pool, schema: string): Promise<boolean> => {
  const { rows } = await pool.query<{ isThere: boolean }>(`select exists (select from ${schema}.users) as "isThere"`);
  return rows[0]?.isThere === true;
};

/** How long those who look at it are waited for, with those that wait behind. */
const READERS_MAX_MS = 5_000;

/** Drops one that was kept, or whose process is gone; answers whether it was there to be dropped. */
export const dropScratch = async (pool: Pool, schema: string): Promise<boolean> => {
  const found = await listScratch(pool);
  if (!found.some((each) => each.schema === schema)) return false;
  return inTransaction(pool, async (connection) => {
    await connection.query(`set local lock_timeout = ${READERS_MAX_MS}`);
    const { rows } = await connection.query<{ isFree: boolean }>(`select pg_try_advisory_xact_lock(${LOCK_OF}) as "isFree"`, [schema]);
    if (!rows[0]?.isFree) return false;
    await connection.query(`drop schema if exists ${schema} cascade`);
    return true;
  });
};

/** What processes left that were killed. */
const dropAbandoned = async (pool: Pool): Promise<void> => {
  const unfinished = (await listScratch(pool)).filter(({ isWhole }) => !isWhole);
  for (const { schema } of unfinished) await dropScratch(pool, schema);
};

const LOCK_OF = `hashtext('annals scratch ' || $1)`;

/** Held until it is disposed of; nothing where another process holds it. It ends with the connection, whatever ends that. */
const own = async (pool: Pool, schema: string): Promise<AsyncDisposable | undefined> => {
  const connection = await pool.connect();
  try {
    // The server finds out within seconds that this machine is gone.
    await connection.query('set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3');
    const { rows } = await connection.query<{ isHeld: boolean }>(`select pg_try_advisory_lock(${LOCK_OF}) as "isHeld"`, [schema]);
    if (rows[0]?.isHeld) return { [Symbol.asyncDispose]: async () => connection.release(true) };
    connection.release(true);
    return undefined;
  } catch (error) {
    connection.release(true);
    throw error;
  }
};
