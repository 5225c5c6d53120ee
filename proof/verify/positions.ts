import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Findings } from './findings.ts';

/**
 * A table of the positions of all events, beside the scratch read model, because a large log exceeds the
 * memory.
 */
export const createPositions = async (connection: Connection, schema: string): Promise<void> => {
  await connection.query(
    `create unlogged table ${schema}.places (stream text collate "C" not null, version integer not null, position bigint not null, id uuid not null)`,
  );
};

export const addPositions = async (
  pool: Pool,
  schema: string,
  events: readonly RecordedEvent[],
): Promise<void> => {
  await pool.query(
    `insert into ${schema}.places select * from unnest($1::text[], $2::integer[], $3::bigint[], $4::uuid[])`,
    [
      events.map(({ stream }) => stream),
      events.map(({ version }) => version),
      events.map(({ position }) => position),
      events.map(({ id }) => id),
    ],
  );
};

/** Ascending positions are checked while the log is read. */
export const checkRising = (last: Position, events: readonly RecordedEvent[], findings: Findings): void => {
  let before = last;
  for (const { position, stream, version } of events) {
    if (position <= before) findings.add({ kind: 'position_not_rising', before, position, stream, version });
    before = position;
  }
};

const MEMORY = '128MB';
const LISTED_MAX = 100;

/** In the order of the log, the versions of each stream must be 1, 2, 3 and so on, and every id unique. */
export const checkPositions = async (
  connection: Connection,
  schema: string,
  findings: Findings,
): Promise<void> => {
  await connection.query(`set local work_mem = '${MEMORY}'`);
  const versions = await connection.query<{
    stream: StreamName;
    before: Version;
    version: Version;
    position: Position;
    total: number;
  }>(
    `select *, count(*) over () as total
     from (select stream, version, position, lag(version, 1, 0) over (partition by stream order by position) as before from ${schema}.places) p
     where version <> before + 1 order by position limit ${LISTED_MAX}`,
  );
  for (const { total: _, ...place } of versions.rows) findings.add({ kind: 'version_gap', ...place });
  findings.addUnlisted('version_gap', (versions.rows[0]?.total ?? 0) - versions.rows.length);
  const ids = await connection.query<{ id: EventId; positions: Position[]; total: number }>(
    `select id, (array_agg(position order by position))[1:10] as positions, count(*) over () as total
     from ${schema}.places group by id having count(*) > 1 order by min(position) limit ${LISTED_MAX}`,
  );
  for (const { total: _, ...repeated } of ids.rows) findings.add({ kind: 'event_id_repeated', ...repeated });
  findings.addUnlisted('event_id_repeated', (ids.rows[0]?.total ?? 0) - ids.rows.length);
};
