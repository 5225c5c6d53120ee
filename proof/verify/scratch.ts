import { StartRefused } from '#kernel/base/start-refused.ts';
import { holdLock } from '#shared/database/held-lock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { readDefinition } from '#shared/projection/definition.ts';
import { createTables } from '#shared/projection/schema.ts';
import { computeViewsOnRead } from '#shared/projection/views.ts';
import { dropAbandoned, LOCK_OF, type Mark, textOf } from '#shared/read-model/scratch-schemas.ts';
import type { Tables } from '#shared/read-model/tables.ts';

/** A read model beside the live one that serves no requests. */
type Scratch = AsyncDisposable & {
  readonly schema: string;
  /** Keeps it when the process ends. */
  keep(mark: Mark): Promise<void>;
};

type Scratching = { readonly pool: Pool; readonly tables: Tables };

const NAME = /^(?:replay|verify)_[a-z0-9_]{1,50}$/;

/**
 * Creates the tables of a read model in a schema of their own, without search columns and indexes for reads,
 * and unlogged, because it is rebuilt after a crash. It is dropped at the end unless it is kept; if this
 * process is killed, the next process drops it that creates one, starts, or erases a user.
 */
export const makeScratch = async (
  { pool, tables }: Scratching,
  schema: string,
  mark: Mark,
): Promise<Scratch> => {
  if (!NAME.test(schema))
    throw new StartRefused(`--schema must be replay_ followed by letters, digits and _, but is “${schema}”.`);
  await dropAbandoned(pool);
  await using opening = new AsyncDisposableStack();
  const owner = opening.use(await holdLock(pool, LOCK_OF, schema));
  if (!owner) throw new StartRefused(`Another process is filling ${schema}.`);
  const definition = await readDefinition(tables);
  await inTransaction(pool, async (connection) => {
    const { rows } = await connection.query<{ found: boolean }>(
      'select to_regnamespace($1) is not null as found',
      [schema],
    );
    if (rows[0]?.found)
      throw new StartRefused(
        `${schema} already exists: use it, or drop it first (replay --drop --schema ${schema}).`,
      );
    const unlogged = definition.tables.replaceAll(/^create table /gm, 'create unlogged table ');
    await createTables(connection, schema, { tables: unlogged, marks: { schema: textOf(mark) } });
    await computeViewsOnRead(connection, tables);
    for (const { name, isSearched } of tables.all)
      if (isSearched) await connection.query(`alter table ${name} drop column search`);
  });
  let isKept = false;
  opening.defer(async () => {
    // If that fails, the next process that creates one drops it.
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
