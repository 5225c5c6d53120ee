import type { EventId, Position } from '#shared/brands.ts';
import { LogUnavailable, LogWentBack } from '../errors.ts';
import type { EventLog, RecordedEvent, Seen } from '../event-log.ts';
import { followTail, type TailFollower } from '../follow-tail.ts';
import type { LogPage, TailPage } from '../tail.ts';
import { readEventAt } from './event-at.ts';
import { failureOf, isNoRecord, refusalOf } from './failures.ts';
import type { LiveTail } from './live-tail.ts';
import { PAGE_BYTES_MAX, PAGE_EVENTS_MAX, type Reader, readingOf } from './read.ts';
import { takeAll } from './reading.ts';
import { isOfSystem, positionOf, type StoredEvent, toEvent } from './record.ts';
import { serverPositionOf } from './server-positions.ts';

/**
 * Returns a function that follows the whole log: by pages, and at its end by a live subscription that all
 * followers share.
 */
export const createFollow = (reader: Reader, live: LiveTail): EventLog['follow'] => {
  const follower: TailFollower = {
    tail: live.tail,
    wait: (after, notified, limits) => live.waitAfter(after, notified, limits),
    demandSeen: (seen, page) => demandSeen(reader, seen, page),
    explain: (seen, error) => explain(reader, seen, error),
  };
  return async function* follow(after, aborted, id) {
    const signal = AbortSignal.any([aborted, reader.closed]);
    yield* followTail(follower, { after, signal, id });
    if (!aborted.aborted) throw new LogUnavailable('the event log is closed');
  };
};

/**
 * Checks that the event before a page still exists. Mostly the page begins with it. If it begins with a
 * record that the server wrote for itself, and may also scavenge, the event is looked up.
 */
const demandSeen = async (reader: Reader, seen: Seen, { at, events }: TailPage): Promise<void> => {
  const isShown = at?.position === seen.position;
  if (!isShown && events.length === 0) return;
  const found = isShown ? at.id : await readEventAt(reader, seen.position);
  if (found !== seen.id) throw new LogWentBack(seen, found);
};

/**
 * The position of the last read is no longer the beginning of that record, so the event before it is gone as
 * well.
 */
const explain = async (reader: Reader, seen: Seen | undefined, error: unknown): Promise<never> => {
  if (!seen || !signalsNoRecord(error)) throw error;
  const found = await readEventAt(reader, seen.position);
  throw found === seen.id ? error : new LogWentBack(seen, found);
};

const signalsNoRecord = (error: unknown): boolean =>
  error instanceof Error && (isNoRecord(error) || isNoRecord(error.cause));

/** The next events after a position. */
export const readAfter = async (reader: Reader, after: Position): Promise<LogPage> => {
  const events: RecordedEvent[] = [];
  const sizes: number[] = [];
  let at: Seen | undefined;
  let last = after;
  let atRecord: string | undefined;
  let lastRecord: string | undefined;
  let first: Position | undefined;
  let records = 0;
  let bytes = 0;
  let isAway = false;
  const onEvent = ({ event }: { readonly event?: StoredEvent }): boolean => {
    if (!event) return true;
    const position = positionOf(event);
    records += 1;
    // Reading from a position is inclusive: the first record is the one that was read last.
    if (position === after && records === 1) {
      if (!isOfSystem(event)) at = { position, id: event.id as EventId };
      atRecord = event.id;
      lastRecord = event.id;
      return true;
    }
    if (position <= last)
      throw new Error(`EventStoreDB returned position ${position} after position ${last}`);
    // Positions count the bytes of the server’s log, so their difference bounds the size of a page.
    first ??= position;
    bytes = position - first;
    if (!isOfSystem(event)) {
      events.push(toEvent(event, position));
      sizes.push(position - last);
    }
    last = position;
    lastRecord = event.id;
    return bytes < PAGE_BYTES_MAX;
  };
  const read = reader.connection.client.readAll({
    fromPosition: serverPositionOf(after),
    maxCount: PAGE_EVENTS_MAX,
  });
  try {
    await takeAll(read, { ...readingOf(reader), onEvent });
  } catch (error) {
    if (failureOf(error) !== 'passing')
      throw refusalOf(error, `to read on from position ${after} (is it one of another log?)`);
    isAway = true;
  }
  const isCut = records === PAGE_EVENTS_MAX || bytes >= PAGE_BYTES_MAX;
  return { at, atRecord, events, sizes, last, lastRecord, isCut, isAway };
};
