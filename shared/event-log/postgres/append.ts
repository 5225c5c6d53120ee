import type pg from 'pg';
import type { Position, StreamName, Version } from '#shared/brands.ts';
import type { Appended, Seen } from '../event-log.ts';
import type { ProposedAppend } from './group-commit.ts';

const EXPECT_ANY = -1;
/** The most that the column holds: no stream is ever at a higher one. */
export const VERSION_MAX = 2 ** 31 - 1;
const SEPARATOR = '\u001e';

const APPEND = {
  name: 'event-log-append',
  text: 'select id, version, position from event_log.append_after($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
};

type Stored = { readonly id: string; readonly version: Version; readonly position: Position };

/** Stores a batch of appends with one statement, which is one transaction, unless the log has lost what was seen. Undefined where an expectation did not hold. */
export const appendBatch = async (pool: pg.Pool, batch: readonly ProposedAppend[]): Promise<readonly (Appended | undefined)[]> => {
  const seen = newestSeen(batch);
  const values = [seen?.position ?? null, seen?.id ?? null, ...columnsOf(batch)];
  const { rows } = await pool.query<Stored>({ ...APPEND, values });
  const stored = new Map(rows.map(({ id, version, position }) => [id, { version, position }]));
  return batch.map(({ events }) => stored.get(events.at(-1)?.id ?? ''));
};

/** What the append raises where the log has lost what was seen. */
export const LOST_HISTORY = 'AN001';

/** Whoever has lost an earlier event has lost the newest as well. */
const newestSeen = (batch: readonly Pick<ProposedAppend, 'seen'>[]): Seen | undefined =>
  batch.reduce<Seen | undefined>((newest, { seen }) => (seen && seen.position > (newest?.position ?? 0) ? seen : newest), undefined);

const columnsOf = (batch: readonly ProposedAppend[]): string[] => {
  const columns: string[][] = Array.from({ length: 8 }, () => []);
  const ahead = new Map<StreamName, number>();
  for (const { stream, expected, events } of batch) {
    for (const event of events) {
      const offset = (ahead.get(stream) ?? 0) + 1;
      ahead.set(stream, offset);
      const version = expected === 'any' ? EXPECT_ANY : expected;
      const row = [stream, String(version), String(offset), event.id, event.type, event.data, event.metadata, String(event.bytes)];
      for (const [index, value] of row.entries()) columns[index]?.push(value);
    }
  }
  return columns.map((column) => column.join(SEPARATOR));
};

const FIND_REPEAT = {
  name: 'event-log-find-repeat',
  text: `select count(*)::integer as events, min(version) as first, max(version) as version, max(position) as position
    from event_log.event where stream = $1 and id = any($2::uuid[])`,
};

type Repeat = { events: number; first: Version | null; version: Version; position: Position };

/** Where an append was stored before: all of its events are in the stream, one after the other. */
export const findRepeat = async (pool: pg.Pool, { stream, events }: ProposedAppend): Promise<Appended | undefined> => {
  const { rows } = await pool.query<Repeat>({ ...FIND_REPEAT, values: [stream, events.map(({ id }) => id)] });
  const [found] = rows;
  if (!found || found.first === null || found.events !== events.length || found.version - found.first + 1 !== events.length)
    return undefined;
  return { version: found.version, position: found.position };
};
