import type { Position, StreamName, Version } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';

/** An aggregate that stands still from an event on that could not be taken in; everything else goes on. */
export type Parked = { readonly stream: StreamName; readonly position: Position; readonly version: Version; readonly reason: string };

export const parkedAmong = async (connection: Connection, streams: readonly StreamName[]): Promise<ReadonlySet<StreamName>> => {
  const { rows } = await connection.query<{ stream: StreamName }>('select stream from parked where stream = any($1)', [streams]);
  return new Set(rows.map(({ stream }) => stream));
};

export const park = async (connection: Connection, parked: readonly Parked[]): Promise<void> => {
  if (parked.length === 0) return;
  await connection.query(
    `insert into parked (stream, position, version, reason)
     select stream, position, version, reason
     from json_to_recordset($1) as p (stream text, position bigint, version integer, reason text)
     on conflict do nothing`,
    [JSON.stringify(parked)],
  );
};
