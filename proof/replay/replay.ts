import type { Position } from '#kernel/base/brands.ts';
import { eraseIn } from '#shared/erasure/erase-copies.ts';
import { START } from '#shared/event-log/event-log.ts';
import { selectDestroyed } from '#shared/keys/postgres/statements.ts';
import { read, Stopped, type Work } from '#shared/projection/catch-up.ts';
import { readDefinition } from '#shared/projection/definition.ts';
import { addIndexes, writeInParts } from '#shared/projection/fill.ts';
import { useReadModel } from '#shared/projection/schema.ts';
import type { Mark } from '#shared/read-model/scratch-schemas.ts';
import { makeScratch } from '../verify/scratch.ts';

export type Replayed = {
  readonly schema: string;
  readonly position: Position;
  readonly events: number;
  /** The number of rows in each table. */
  readonly rows: Readonly<Record<string, number>>;
};

/** Full-text indexes cost more than everything else, and nobody searches here. */
const isCheap = (index: string): boolean => !index.includes(' using gin ');

/** In a replay, views are not stored as tables. */
const isOfView = ({ views }: Work['tables'], index: string): boolean =>
  views.some(({ name }) => index.includes(` on ${name} (`));

/**
 * Builds the read model of a position in a schema of its own, for SQL queries. It changes nothing live,
 * notifies nobody, and drops the schema if it fails.
 */
export const replay = async (
  work: Work,
  { schema, upTo }: { schema: string; upTo: Position },
): Promise<Replayed> => {
  const { eventLog, tables, signal } = work;
  const mark: Mark = {
    use: 'replay',
    log: eventLog.identity,
    position: upTo,
    madeAt: new Date().toISOString(),
    isWhole: false,
  };
  try {
    await using scratch = await makeScratch(work, schema, mark);
    const begin = (connection: Parameters<typeof useReadModel>[0]) => useReadModel(connection, schema);
    let events = 0;
    for await (const { prepared, last, count } of read(work, { after: START, upTo })) {
      await writeInParts(work, prepared, begin);
      events += count;
      work.onProgress({ step: 'events', events, position: last, from: START, upTo });
    }
    await addIndexes(
      work,
      (await readDefinition(tables)).indexes.filter((index) => isCheap(index) && !isOfView(tables, index)),
      begin,
    );
    await eraseLeft(work, schema);
    const rows = await countRows(work, schema);
    if (signal.aborted) throw new Stopped();
    await scratch.keep({ ...mark, users: rows.users ?? 0 });
    return { schema, position: upTo, events, rows };
  } catch (error) {
    throw signal.aborted ? new Stopped() : error;
  }
};

/**
 * Data of users who were erased meanwhile may have been written after that, because a process caches keys for
 * some seconds.
 */
const eraseLeft = async ({ pool, tables }: Work, schema: string): Promise<void> => {
  const destroyed = await selectDestroyed(pool);
  if (destroyed.length > 0)
    await eraseIn(
      { pool, tables },
      schema,
      destroyed.map(({ subject }) => subject),
    );
};

const countRows = async ({ pool, tables }: Work, schema: string): Promise<Replayed['rows']> => {
  const counts = [...tables.ofStreams, ...tables.views]
    .map(({ name }) => name)
    .concat('parked')
    .map((table) => `(select count(*) from ${schema}.${table}) as ${table}`);
  const { rows } = await pool.query<Replayed['rows']>(`select ${counts.join(', ')}`);
  const [row] = rows;
  if (!row) throw new Error('a select of counts returns one row');
  return row;
};
