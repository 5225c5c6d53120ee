import type { EventId, Position } from '#kernel/base/brands.ts';
import { LogUnavailable, LogWentBack } from '#shared/event-log/errors.ts';
import { type EventLog, type RecordedEvent, type Seen, START } from '#shared/event-log/event-log.ts';
import { followTail, type TailFollower } from '#shared/event-log/follow-tail.ts';
import type { LogPage, TailPage } from '#shared/event-log/tail.ts';
import { lookAt, recordAt } from './event-at.ts';
import { failureOf, isNoRecord, refusalOf } from './failures.ts';
import type { LiveTail } from './live-tail.ts';
import { isEventOf } from './neighbours.ts';
import { readOwn } from './own-page.ts';
import { NO_PREFIX } from './own-streams.ts';
import { ask, beginOf, PAGE_BYTES_MAX, PAGE_EVENTS_MAX, type Reader } from './read.ts';
import { isOfTransaction, positionOf, type StoredEvent, toEvent } from './record.ts';

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
  const found = isShown ? at.id : await readSeen(reader, seen);
  if (found !== seen.id) throw new LogWentBack(seen, found);
};

/**
 * The position of the last read is no longer the beginning of that record, so the event before it is gone as
 * well.
 */
const explain = async (reader: Reader, seen: Seen | undefined, error: unknown): Promise<never> => {
  if (!seen || !signalsNoRecord(error)) throw error;
  const found = await readSeen(reader, seen);
  throw found === seen.id ? error : new LogWentBack(seen, found);
};

const readSeen = (reader: Reader, seen: Seen): Promise<EventId | undefined> =>
  ask(reader, `a look at position ${seen.position}`, () => lookAtSeen(reader, seen));

/** Before the first event of a log, its identity is what a follower has seen last. */
const lookAtSeen = async (reader: Reader, { position }: Seen): Promise<EventId | undefined> =>
  position === reader.begin?.position
    ? ((await recordAt(reader, position))?.id as EventId | undefined)
    : await lookAt(reader, position);

const signalsNoRecord = (error: unknown): boolean =>
  error instanceof Error && (isNoRecord(error) || isNoRecord(error.cause));

/**
 * The next events after a position. That may be a record of somebody else, up to which the log is known to be
 * complete, and which its owner may remove: `seen`, the last event before it, then takes its place.
 */
export const readAfter = async (reader: Reader, after: Position, seen?: Seen): Promise<LogPage> => {
  if (reader.prefix === NO_PREFIX || seen === undefined || seen.position >= after)
    return readPage(reader, after);
  try {
    const [found, record] = await Promise.all([lookAtSeen(reader, seen), recordAt(reader, after)]);
    const page = await (record === undefined && found === seen.id
      ? readOver(reader, after, seen.position)
      : readPage(reader, after));
    return { ...page, at: found && { position: seen.position, id: found } };
  } catch (error) {
    if (failureOf(error) !== 'passing') throw error;
    return { at: undefined, events: [], sizes: [], last: after, isCut: false, isAway: true };
  }
};

/**
 * The page after a position whose record is gone. If the server was restored to a time after the last event
 * and before that record, later events are up to there: these come first, and the window begins anew.
 */
const readOver = async (reader: Reader, after: Position, seenAt: Position): Promise<LogPage> => {
  const page = await readPage(reader, seenAt);
  const missed = page.events.filter(({ position }) => position <= after);
  const last = missed.at(-1);
  if (last === undefined)
    return { ...page, last: Math.max(page.last, after) as Position, atRecord: undefined };
  const sizes = page.sizes.slice(0, missed.length);
  return { ...page, events: missed, sizes, last: last.position, lastRecord: last.id, isCut: false };
};

const readPage = async (reader: Reader, after: Position): Promise<LogPage> => {
  const events: RecordedEvent[] = [];
  const sizes: number[] = [];
  const from = after === START ? beginOf(reader) : after;
  let at: Seen | undefined;
  let last = after;
  let atRecord: string | undefined;
  let lastRecord: string | undefined;
  let records = 0;
  let bytes = 0;
  let isAway = false;
  let unknown: StoredEvent | undefined;
  const onRecord = (record: StoredEvent): boolean => {
    const position = positionOf(record);
    records += 1;
    if (isOfTransaction(record)) {
      // So that a page of nothing else is not read again. No record begins at this position.
      if (position > last) [last, lastRecord] = [position, undefined];
      return true;
    }
    const isEvent = isEventOf(reader, record, after);
    if (isEvent === undefined) {
      unknown = record;
      return false;
    }
    // Reading from a position is inclusive: the first record is the one that was read last, or the identity.
    if (position === from && last === after) {
      if (isEvent || position === reader.begin?.position) at = { position, id: record.id as EventId };
      last = position;
      atRecord = record.id;
      lastRecord = record.id;
      return true;
    }
    if (position <= last)
      throw new Error(`EventStoreDB returned position ${position} after position ${last}`);
    if (isEvent) {
      events.push(toEvent(record, reader, position));
      sizes.push(sizeOf(record, position - last));
      bytes += sizes.at(-1) ?? 0;
    }
    last = position;
    lastRecord = record.id;
    return bytes < PAGE_BYTES_MAX;
  };
  try {
    await readOwn(reader, { from, countMax: PAGE_EVENTS_MAX, onRecord });
    if (unknown) {
      await reader.neighbours.lookUp(unknown);
      return await readPage(reader, after);
    }
  } catch (error) {
    if (failureOf(error) !== 'passing')
      throw refusalOf(error, `to read on from position ${after} (is it one of another log?)`);
    isAway = true;
  }
  const isCut = records === PAGE_EVENTS_MAX || bytes >= PAGE_BYTES_MAX;
  return { at, atRecord, events, sizes, last, lastRecord, isCut, isAway };
};

/** Larger distances may be those of other records in between. */
const DISTANCE_MAX = 4_096;

/** Positions count the bytes of the server’s log, so their difference bounds the size of an event. */
const sizeOf = ({ data, metadata }: StoredEvent, distance: number): number =>
  distance <= DISTANCE_MAX ? distance : JSON.stringify([data, metadata]).length;
