import type { StreamName, Version } from '#kernel/base/brands.ts';
import { type Answer, type Statement, sendPipelined } from '#shared/database/pipeline.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import type { Tables } from '#shared/read-model/tables.ts';

/**
 * The events of these streams that must not be applied: those of parked streams, and the versions that an
 * operator skipped.
 */
export type Exceptions = {
  readonly parked: ReadonlySet<StreamName>;
  isSkipped(event: { stream: StreamName; version: Version }): boolean;
};

export const exceptionsAmong = async (
  connection: Connection,
  streams: ReadonlySet<StreamName>,
): Promise<Exceptions> => exceptionsIn((await sendPipelined(connection, [findExceptions(streams)]))[0]);

/** The statement that finds them, for callers that send it with others. */
export const findExceptions = (streams: ReadonlySet<StreamName>): Statement => ({
  name: 'projection-exceptions',
  text: `select stream, null::integer as skipped from parked where stream = any($1)
    union all
    select stream, version from public.projection_skip where stream = any($1)`,
  values: [[...streams]],
});

export const exceptionsIn = (answer: Answer | undefined): Exceptions => {
  const rows = (answer?.rows ?? []) as readonly { stream: StreamName; skipped: Version | null }[];
  const skipped = new Set(rows.map((row) => `${row.stream}@${row.skipped}`));
  return {
    parked: new Set(rows.filter((row) => row.skipped === null).map(({ stream }) => stream)),
    isSkipped: ({ stream, version }) => skipped.has(`${stream}@${version}`),
  };
};

/**
 * Deletes the rows of these aggregates, so that nothing stale is shown, and every replay ends the same
 * whatever its batches were.
 */
export const park = async (
  connection: Connection,
  tables: Tables,
  parked: readonly Parked[],
): Promise<void> => {
  if (parked.length === 0) return;
  await connection.query(
    `insert into parked (stream, version, position, type, reason)
     select stream, version, position, type, reason
     from json_to_recordset($1) as p (stream text, version integer, position bigint, type text, reason text)`,
    [JSON.stringify(parked)],
  );
  const rows = Map.groupBy(
    parked.flatMap(({ stream }) => tables.rowOf(stream) ?? []),
    ({ table }) => table,
  );
  for (const [table, gone] of rows) {
    const ids = gone.map(({ id }) => id);
    await connection.query(`delete from ${table.name} where id = any($1)`, [ids]);
    for (const { name, key } of table.items)
      await connection.query(`delete from ${name} where ${key[0]} = any($1)`, [ids]);
    for (const { name } of table.shares)
      await connection.query(`delete from ${name} where id = any($1)`, [ids]);
    await connection.query('delete from removed where kind = $1 and id = any($2)', [table.name, ids]);
  }
};

/** Returns since when the aggregate was parked. */
export const unpark = async (connection: Connection, stream: StreamName): Promise<Date | undefined> => {
  const { rows } = await connection.query<{ since: Date }>(
    'delete from parked where stream = $1 returning parked_at as since',
    [stream],
  );
  return rows[0]?.since;
};
