import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { ProjectedTable } from '#shared/read-model/tables.ts';
import { runPrepared } from '../rows/statement.ts';

/** A stream up to the position of the read model; nobody sees its events earlier. */
export type StreamSource = {
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly stream: StreamName;
  readonly upTo: Position;
};

/** The events of a range of versions, in pages. */
export async function* readVersions(
  { eventLog, stream, upTo }: StreamSource,
  from: number,
  to: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (from > to) return;
  for await (const page of eventLog.read(stream, from as Version, to as Version)) {
    const wanted = page.filter(({ position }) => position <= upTo);
    if (wanted.length > 0) yield wanted;
    if (wanted.length < page.length) return;
  }
}

const LOOKED_AT_EVENTS = 100;

/**
 * The version of the last event of a stream; 0 if it is empty. The search starts at a version it is known to
 * have.
 */
export const lastVersion = async (source: StreamSource, known: number): Promise<number> => {
  const lastFrom = async (version: number): Promise<number> => {
    for await (const page of readVersions(source, version, version + LOOKED_AT_EVENTS - 1))
      return page.at(-1)?.version ?? 0;
    return 0;
  };
  let low = known;
  let step = 1;
  for (let found = await lastFrom(low + step); found > 0; found = await lastFrom(low + step)) {
    low = found;
    step *= 2;
  }
  for (let high = low + step; high - low > 1; ) {
    const middle = Math.floor((low + high) / 2);
    const found = await lastFrom(middle);
    if (found > 0) low = found;
    else high = middle;
  }
  return low;
};

/** The version in the read model; 0 if there is no row. */
export const knownVersion = async (
  pool: Pool,
  { name }: Pick<ProjectedTable, 'name'>,
  id: number,
): Promise<number> => {
  const [row] = await runPrepared<{ version: number }>(
    pool,
    `select version from ${LIVE_SCHEMA}.${name} where id = $1::bigint`,
    [id],
  );
  return row?.version ?? 0;
};
