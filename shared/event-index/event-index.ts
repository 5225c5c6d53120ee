import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import { type Statement, sendLast } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { migrateFollowers } from '#shared/follower/checkpoint.ts';
import { type IndexSpan, notingMoment } from './moments.ts';

export type IndexedEvent = {
  readonly position: Position;
  readonly id: EventId;
  readonly stream: StreamName;
  readonly version: Version;
};

export type IndexRow = IndexedEvent & {
  readonly type: string;
  readonly actor: string | null;
  readonly client: string | null;
  readonly correlation: string | null;
};

/** A query of the index; an event must match every given field. */
export type IndexQuery = {
  readonly types?: readonly string[] | undefined;
  readonly stream?: string | undefined;
  readonly actor?: string | undefined;
  readonly client?: string | undefined;
  readonly correlation?: string | undefined;
};

/** The name of the follower that maintains it. */
export const EVENT_INDEX = 'event-index';

/** Updates its tables; every reader and writer calls it first. */
export const migrateEventIndex = async (pool: Pool): Promise<void> => {
  await migrateFollowers(pool);
  await migrate(pool, 'event-index', new URL('./migrations/', import.meta.url));
};

/**
 * Adds consecutive events of the log. Removes entries from there on, because their events were lost from the
 * log.
 */
export const indexEvents = async (
  connection: Connection,
  events: readonly RecordedEvent[],
  also: readonly Statement[] = [],
): Promise<void> => {
  await sendLast(connection, [
    ...also,
    {
      name: 'event-index-forget',
      text: 'delete from event_index.event where position >= $1',
      values: [events[0]?.position],
    },
    { name: 'event-index-insert', text: INSERT, values: columnsOf(events) },
    ...notingMoment(events),
  ]);
};

const INSERT = `insert into event_index.event (position, id, stream, version, type, actor, client, correlation)
  select * from unnest($1::bigint[], $2::uuid[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[])`;

export const columnsOf = (events: readonly RecordedEvent[]): unknown[][] => {
  const rows = events.map(indexRowOf);
  return INDEX_COLUMNS.map((column) => rows.map((row) => row[column]));
};

/** In the order of the statement. */
export const INDEX_COLUMNS = [
  'position',
  'id',
  'stream',
  'version',
  'type',
  'actor',
  'client',
  'correlation',
] as const satisfies readonly (keyof IndexRow)[];

/** The row that the index must have for an event. */
export const indexRowOf = ({ position, id, stream, version, type, metadata }: RecordedEvent): IndexRow => ({
  ...{ position, id, stream, version, type },
  actor: textIn(metadata?.[METADATA.actor]),
  client: textIn(metadata?.[METADATA.client]),
  correlation: textIn(metadata?.[METADATA.correlation]),
});

/** The names in metadata of the last columns. */
const METADATA = { actor: 'actor', client: 'client', correlation: '$correlationId' } as const;
type Named = keyof typeof METADATA;

const TEXT_CHARACTERS_MAX = 500;
/** Metadata may be damaged. Tokens are shorter, and PostgreSQL cannot index much longer text. */
const textIn = (value: unknown): string | null =>
  typeof value === 'string' &&
  value.length <= TEXT_CHARACTERS_MAX &&
  !value.includes('\u0000') &&
  value.isWellFormed()
    ? value
    : null;

/** Whether an event that is not indexed yet matches the query. */
export const isFoundBy = ({ types, stream, ...named }: IndexQuery, event: RecordedEvent): boolean =>
  (types === undefined || types.includes(event.type)) &&
  (stream === undefined || stream === event.stream) &&
  Object.entries(named).every(
    ([name, value]) => value === undefined || value === textIn(event.metadata?.[METADATA[name as Named]]),
  );

type Asked = {
  readonly query: IndexQuery;
  readonly span: IndexSpan;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
};

/** The first events of a span, from its beginning or from its end. */
export const listIndexed = async (
  pool: Pick<Pool, 'query'>,
  { query, span, order, limit }: Asked,
): Promise<readonly IndexedEvent[]> => {
  const { types, ...columns } = query;
  const values: unknown[] = [span.after, span.upTo, limit];
  // The index is sorted within one type.
  const type = types?.length === 1 ? types[0] : types;
  const conditions = Object.entries({ ...columns, type }).flatMap(([column, value]) => {
    if (value === undefined) return [];
    values.push(value);
    return [
      ` and ${column} = ${Array.isArray(value) ? `any($${values.length}::text[])` : `$${values.length}`}`,
    ];
  });
  const { rows } = await pool.query<IndexedEvent>(
    `select position, id, stream, version from event_index.event
     where position > $1 and position <= $2${conditions.join('')} order by position ${order} limit $3`,
    values,
  );
  return rows;
};

export const findIndexed = async (
  pool: Pick<Pool, 'query'>,
  id: EventId,
): Promise<IndexedEvent | undefined> => {
  const { rows } = await pool.query<IndexedEvent>({
    name: 'event-index-find',
    text: 'select position, id, stream, version from event_index.event where id = $1 order by position desc limit 1',
    values: [id],
  });
  return rows[0];
};

/** The rows of a span, as far as the index has reached; undefined if it does not belong to this log. */
export const readIndexedSpan = async (
  pool: Pick<Pool, 'query'>,
  { identity }: Pick<EventLog, 'identity'>,
  { after, upTo }: IndexSpan,
): Promise<{ readonly reached: Position; readonly rows: readonly IndexRow[] } | undefined> => {
  // In one statement, so that the position and the rows are of the same moment.
  const { rows } = await pool.query<{ reached: Position } & (IndexRow | { id: null })>(
    `select c.position as reached, ${INDEX_COLUMNS.map((column) => `e.${column}`).join(', ')}
     from public.follower_checkpoint c
       left join event_index.event e on e.position > $3 and e.position <= least($4, c.position)
     where c.follower = $1 and c.log = $2 order by e.position`,
    [EVENT_INDEX, identity, after, upTo],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  return {
    reached: first.reached,
    rows: rows.filter((row): row is typeof row & IndexRow => row.id !== null),
  };
};
