import type pg from 'pg';
import type { EventId, LogIdentity, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { AuthenticLog } from '#shared/authentic-events/authentic-log.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { isPassing } from '#shared/database/failures.ts';
import { type Appended, type RecordedEvent, START } from '../event-log.ts';
import { contentOf } from '../foreign-record.ts';
import type { LogPage } from '../tail.ts';
import { wholeAppends } from '../whole-appends.ts';
import { withRetries } from './retry.ts';

const PAGE_EVENTS_MAX = 1_000;

/**
 * A page ends before the event that would exceed this, so that a thousand large events do not fill the
 * memory.
 */
const PAGE_BYTES_MAX = 16 * 1_048_576;

export type Row = [
  position: number,
  stream: string,
  version: number,
  id: string,
  type: string,
  data: string | null,
  metadata: string,
  recordedAt: Date,
  bytes: number,
  mac: string | null,
];

/** Shared by reads of the log. Without `authentic`, MACs are not checked. */
export type Reading = {
  readonly pool: pg.Pool;
  readonly authentic?: AuthenticLog | undefined;
};

export const toEvent = (row: Row, authentic: AuthenticLog | undefined): RecordedEvent => {
  const [position, stream, version, id, type, data, metadata, recordedAt, , mac] = row;
  if (data === null) throw new TypeError(`the event at position ${position} was read without its data`);
  const event: RecordedEvent = {
    position: position as Position,
    stream: stream as StreamName,
    version: version as Version,
    id: id as EventId,
    type,
    ...contentOf({ data: JSON.parse(data), metadata: JSON.parse(metadata) }),
    recordedAt,
  };
  return authentic ? authentic.admit(event, { data, metadata, mac }) : event;
};

export const READ_LOG = {
  name: 'event-log-read-log',
  rowMode: 'array' as const,
  // Includes the event at the position itself, without its content, to show that the log still has it.
  text: `select position, stream, version, id, type, case when position > $1 then data::text end, metadata::text, recorded_at, bytes,
      encode(mac, 'hex')
    from (
      select *, sum(bytes) over (order by position) - bytes as bytes_before
      from (
        select position, stream, version, id, type, data, metadata, recorded_at, mac, case when position > $1 then bytes else 0 end as bytes
        from event_log.event where position >= $1 order by position limit $2::integer + 1
      ) next
    ) page
    where bytes_before < ${PAGE_BYTES_MAX}
    order by position`,
};

/** The next events after a position, in a page of their own. */
export const readSome = async (
  { pool, authentic }: Reading,
  after: Position,
  max: number,
): Promise<readonly RecordedEvent[]> => {
  const { rows } = await pool.query<Row>({ ...READ_LOG, values: [after, Math.min(max, PAGE_EVENTS_MAX)] });
  return (rows[0]?.[0] === after ? rows.slice(1) : rows.slice(0, max)).map((row) => toEvent(row, authentic));
};

/** The next events after a position; none if the server is unreachable. */
export const readAfter = async ({ pool, authentic }: Reading, after: Position): Promise<LogPage> => {
  const rows = await pool
    .query<Row>({ ...READ_LOG, values: [after, PAGE_EVENTS_MAX] })
    .then((answer) => answer.rows, orPassing);
  if (rows === 'away')
    return { at: undefined, events: [], sizes: [], last: after, isCut: false, isAway: true };
  const [first] = rows;
  const isAt = first?.[0] === after;
  const next = isAt ? rows.slice(1) : rows;
  const all = next.map((row) => toEvent(row, authentic));
  const events = isCut(next) ? all.slice(0, wholeAppends(all)) : all;
  return {
    at: isAt ? { position: after, id: first[3] as EventId } : undefined,
    events,
    sizes: next.slice(0, events.length).map((row) => row[8]),
    last: events.at(-1)?.position ?? after,
    isCut: isCut(next),
    isAway: false,
  };
};

const orPassing = (error: unknown): 'away' => {
  if (isPassing(error)) return 'away';
  throw error;
};

const isCut = (rows: readonly Row[]): boolean =>
  rows.length >= PAGE_EVENTS_MAX || rows.reduce((sum, row) => sum + row[8], 0) >= PAGE_BYTES_MAX;

const READ_STREAM = {
  name: 'event-log-read-stream',
  rowMode: 'array' as const,
  text: `select position, stream, version, id, type, data::text, metadata::text, recorded_at, bytes, encode(mac, 'hex')
    from (
      select *, sum(bytes) over (order by version) - bytes as bytes_before
      from (
        select * from event_log.event where stream = $1 and version >= $2 and version <= $3 order by version limit ${PAGE_EVENTS_MAX}
      ) next
    ) page
    where bytes_before < ${PAGE_BYTES_MAX}
    order by version`,
};

export async function* readStreamPages(
  { pool, authentic }: Reading,
  stream: StreamName,
  { from, to, clock }: { readonly from: Version; readonly to: Version; readonly clock: Clock },
): AsyncGenerator<readonly RecordedEvent[]> {
  for (let next: number = from; next <= to; ) {
    const { rows } = await withRetries(
      () => pool.query<Row>({ ...READ_STREAM, values: [stream, next, to] }),
      clock,
    );
    if (rows.length > 0) yield rows.map((row) => toEvent(row, authentic));
    if (!isCut(rows)) return;
    next += rows.length;
  }
}

const FIND_EVENT = {
  name: 'event-log-find-event',
  text: 'select version, position from event_log.event where id = $1 and stream = $2 and position > $3',
};

export const findEvent = async (
  pool: pg.Pool,
  { stream, id, after }: { readonly stream: StreamName; readonly id: EventId; readonly after: Position },
): Promise<Appended | undefined> => {
  const { rows } = await pool.query<Appended>({ ...FIND_EVENT, values: [id, stream, after] });
  return rows[0];
};

export const readEventAt = async (pool: pg.Pool, position: Position): Promise<EventId | undefined> => {
  const { rows } = await pool.query<{ id: EventId }>('select id from event_log.event where position = $1', [
    position,
  ]);
  return rows[0]?.id;
};

/** A row before the first position is none of the log. */
export const readHead = async (pool: pg.Pool): Promise<Position> => {
  const { rows } = await pool.query<{ head: number | null }>(
    'select max(position) as head from event_log.event',
  );
  return Math.max(rows[0]?.head ?? START, START) as Position;
};

export const readLost = async (pool: pg.Pool): Promise<readonly LogIdentity[]> => {
  const { rows } = await pool.query<{ log: LogIdentity }>('select log from event_log.lost_history');
  return rows.map(({ log }) => log);
};

export const readIdentity = async (pool: pg.Pool): Promise<LogIdentity> => {
  const { rows } = await pool.query<{ id: string }>('select id from event_log.identity');
  const [row] = rows;
  if (!row) throw new Error('event_log.identity is empty: this database is not an event log, or is damaged');
  return row.id as LogIdentity;
};

const VERSIONS = {
  name: 'event-log-versions',
  text: `select s.stream, (select e.version from event_log.event e where e.stream = s.stream order by e.version desc limit 1) as version
    from unnest($1::text[]) as s (stream)`,
};

/** The present versions of streams; none of a stream without events. */
export const readVersions = async (
  pool: pg.Pool,
  streams: ReadonlySet<StreamName>,
): Promise<ReadonlyMap<StreamName, Version>> => {
  const { rows } = await pool.query<{ stream: StreamName; version: Version | null }>({
    ...VERSIONS,
    values: [[...streams]],
  });
  return new Map(rows.flatMap(({ stream, version }) => (version === null ? [] : [[stream, version]])));
};
