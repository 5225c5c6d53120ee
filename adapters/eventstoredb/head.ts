import { BACKWARDS, END, type ReadAllOptions } from '@eventstore/db-client';
import type { Position } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import { isNoRecord } from './failures.ts';
import { isEventOf } from './neighbours.ts';
import { readLast, readOwn } from './own-page.ts';
import { NO_PREFIX } from './own-streams.ts';
import { ask, beginOf, PAGE_EVENTS_MAX, type Reader, readingOf, refuseIfClosed } from './read.ts';
import { takeAll } from './reading.ts';
import { positionOf, type StoredEvent } from './record.ts';

/** Up to this record, `event` is the last event; only records of the server or of others came after it. */
type Known = { readonly record: Position; readonly event: Position };

/**
 * Returns a function that finds the position of the last event, which a follower reaches, unlike a record of
 * the server or of others behind it. Reads or searches each of those once: a log without appends for days has
 * many of them.
 */
export const createHead = (reader: Reader): (() => Promise<Position>) => {
  const look = reader.prefix === NO_PREFIX ? readBackTo : searchFrom;
  let known = UNKNOWN;
  return () =>
    ask(reader, 'a read of $all', async () => {
      known = await look(reader, known);
      return known.event;
    });
};

const UNKNOWN: Known = { record: START, event: START };

const searchFrom = async (reader: Reader, known: Known): Promise<Known> => {
  let event: Position | undefined;
  const record = await readLast(reader, (last) => {
    if (isEventOf(reader, last)) event = positionOf(last);
  });
  refuseIfClosed(reader);
  if (record === undefined || record === known.record) return known;
  if (event !== undefined) return { record, event };
  const later =
    record > known.record && known.record !== START ? await searchAfter(reader, known) : undefined;
  const found = later ?? (await searchBack(reader));
  return { record: Math.max(record, found) as Position, event: found };
};

/**
 * The last event, if the record is still there and not many events came after it; otherwise the last event is
 * near the end.
 */
const searchAfter = async (reader: Reader, { record, event }: Known): Promise<Position | undefined> => {
  let last = event;
  let count = 0;
  try {
    await readOwn(reader, {
      ...{ from: record, countMax: PAGE_EVENTS_MAX },
      onRecord(own) {
        count += 1;
        if (isEventOf(reader, own)) last = positionOf(own);
        return true;
      },
    });
  } catch (error) {
    if (isNoRecord(error)) return undefined;
    throw error;
  }
  refuseIfClosed(reader);
  return count === PAGE_EVENTS_MAX ? undefined : last;
};

/** Mostly the last record of ours is an event. */
const searchBack = async (reader: Reader): Promise<Position> => {
  let event: Position = START;
  // Records before the first one belong to others, and may be many.
  let isAtBegin = false;
  for (const countMax of [1, PAGE_EVENTS_MAX]) {
    let count = 0;
    await readOwn(reader, {
      ...{ from: END, countMax },
      onRecord(own) {
        count += 1;
        if (isEventOf(reader, own)) event = positionOf(own);
        isAtBegin = positionOf(own) <= beginOf(reader);
        return event === START && !isAtBegin;
      },
    });
    refuseIfClosed(reader);
    if (event !== START || isAtBegin || count < countMax) break;
  }
  return event;
};

/** For a log that takes every stream for its own. */
const readBackTo = async (reader: Reader, known: Known): Promise<Known> => {
  let newest: Position | undefined;
  let from: FromPosition = END;
  // Mostly the last record is an event.
  for (let recordsMax = 1; ; recordsMax = PAGE_EVENTS_MAX) {
    const { first, last, event, ...page } = await readBack(reader, {
      from,
      recordsMax,
      downTo: known.record,
    });
    newest ??= first;
    if (newest === undefined || last === undefined) return { record: newest ?? START, event: START };
    if (event !== undefined) return { record: newest, event };
    if (last === known.record) return { record: newest, event: known.event };
    // The record is gone: the log was scavenged, or restored to an earlier time.
    if (last < known.record) return readBackTo(reader, UNKNOWN);
    from = page.from;
  }
};

type FromPosition = NonNullable<ReadAllOptions['fromPosition']>;
type Range = { readonly from: FromPosition; readonly recordsMax: number; readonly downTo: Position };
type Page = {
  readonly first: Position | undefined;
  readonly last: Position | undefined;
  /** Where the last record is, which may be one of a transaction. */
  readonly from: FromPosition;
  readonly event: Position | undefined;
};

/** Reads back to the first event, or to a record. */
const readBack = async (reader: Reader, { from, recordsMax, downTo }: Range): Promise<Page> => {
  const positions: Position[] = [];
  let event: Position | undefined;
  let next = from;
  let unknown: StoredEvent | undefined;
  const read = reader.connection.client.readAll({
    fromPosition: from,
    maxCount: recordsMax,
    direction: BACKWARDS,
  });
  await takeAll(read, {
    ...readingOf(reader),
    onEvent: ({ event: stored }) => {
      if (!stored) return true;
      const position = positionOf(stored);
      positions.push(position);
      next = stored.position ?? next;
      const isEvent = isEventOf(reader, stored);
      if (isEvent === undefined) unknown = stored;
      if (isEvent) event = position;
      return event === undefined && unknown === undefined && position > downTo;
    },
  });
  if (unknown) {
    await reader.neighbours.lookUp(unknown);
    return readBack(reader, { from, recordsMax, downTo });
  }
  refuseIfClosed(reader);
  return { first: positions[0], last: positions.at(-1), from: next, event };
};
