import { isDeepStrictEqual } from 'node:util';
import type { Position } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import {
  INDEX_COLUMNS,
  type IndexRow,
  indexRowOf,
  readIndexedSpan,
} from '#shared/event-index/event-index.ts';
import { readMoments } from '#shared/event-index/moments.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';
import type { DerivedFinding } from '#shared/rest/verification-report.ts';

/** All events of the log after one position, up to another. */
export type Stretch = {
  readonly after: Position;
  readonly upTo: Position;
  readonly events: readonly RecordedEvent[];
};

const TABLE = 'event_index.event';

/** Compares the rows of the index with the events, as far as the index has reached. */
export const compareIndex = async (
  { pool, eventLog }: { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'identity'> },
  stretch: Stretch,
): Promise<readonly DerivedFinding[]> => {
  const indexed = await readIndexedSpan(pool, eventLog, stretch);
  if (indexed === undefined) return [];
  const rows = Map.groupBy(indexed.rows, ({ position }) => position);
  const found: DerivedFinding[] = [];
  for (const event of stretch.events) {
    if (event.position > indexed.reached) break;
    const row = takeOne(rows.get(event.position), event);
    const place = { stream: event.stream, version: event.version, position: event.position };
    const about = { table: TABLE, key: String(event.position), ...place };
    if (row === undefined) {
      found.push({ kind: 'derived_missing', ...about, columns: [] });
      continue;
    }
    const wanted = indexRowOf(event);
    const columns = INDEX_COLUMNS.filter((column) => !isDeepStrictEqual(row[column], wanted[column]));
    if (columns.length > 0) found.push({ kind: 'derived_different', ...about, columns });
  }
  const early = await findEarlyMoments(pool, stretch);
  return [...found, ...[...rows.values()].flat().map(surplus), ...early];
};

const MOMENT = 'event_index.moment';

/** The moments before the time of an earlier event, by which a read of a former state would miss events. */
const findEarlyMoments = async (pool: Pool, stretch: Stretch): Promise<readonly DerivedFinding[]> => {
  const found: DerivedFinding[] = [];
  let [latest, next] = [Number.NEGATIVE_INFINITY, 0];
  for (const { position, latestAt } of await readMoments(pool, stretch)) {
    for (; (stretch.events[next]?.position ?? position + 1) <= position; next += 1) {
      const at = stretch.events[next] && timeOf(stretch.events[next] as RecordedEvent);
      latest = Math.max(latest, at?.getTime() ?? latest);
    }
    if ((latestAt?.getTime() ?? Number.NEGATIVE_INFINITY) >= latest) continue;
    const about = { table: MOMENT, key: String(position), columns: ['latest_at'] };
    found.push({ kind: 'derived_different', ...about, stream: null, version: null, position });
  }
  return found;
};

/** Prefers the row with the id of the event, and removes it from the others of its position. */
const takeOne = (rows: IndexRow[] | undefined, { id }: RecordedEvent): IndexRow | undefined => {
  if (rows === undefined) return undefined;
  const at = Math.max(
    rows.findIndex((row) => row.id === id),
    0,
  );
  return rows.splice(at, 1)[0];
};

const surplus = ({ position, id }: IndexRow): DerivedFinding => ({
  ...{ kind: 'derived_extra', table: TABLE, key: `${position} ${id}`, columns: [] },
  ...{ stream: null, version: null, position },
});
