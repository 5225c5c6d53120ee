import { setTimeout as delay } from 'node:timers/promises';
import type { EventId, Position } from '#shared/brands.ts';
import { LogUnavailable, LogWentBack } from '../errors.ts';
import { type RecordedEvent, type Seen, START } from '../event-log.ts';
import type { LiveBell } from './bell.ts';
import { readEventAt } from './event-at.ts';
import { failureOf, isNoRecord, refusalOf } from './failures.ts';
import { placeOf } from './places.ts';
import { PAGE_BYTES_MAX, PAGE_EVENTS_MAX, type Reader } from './read.ts';
import { takeAll } from './reading.ts';
import { isOfSystem, positionOf, type StoredEvent, toEvent } from './record.ts';

const POLL_MS = 250;
const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 1_000;

/**
 * Pages through everything after a position, and waits at its end for the bell; a server that is away is waited for.
 * Pages, because a live subscription is dropped whenever it lags, and costs the server more than they do.
 */
export async function* follow(
  { reader, bell }: { reader: Reader; bell: LiveBell },
  after: Position,
  aborted: AbortSignal,
  id?: EventId,
): AsyncGenerator<readonly RecordedEvent[]> {
  const signal = AbortSignal.any([aborted, reader.closed]);
  let last = after;
  let seen: Seen | undefined = id === undefined || after === START ? undefined : { position: after, id };
  let backoffMs = BACKOFF_FIRST_MS;
  while (!signal.aborted) {
    const heard = bell.heard;
    const page = await readAfter(reader, last, signal).catch((error: unknown) => explain(reader, seen, error));
    if (signal.aborted) break;
    if (page.last > last || !page.isAway) backoffMs = BACKOFF_FIRST_MS;
    if (seen && page.events.length > 0) await demandSeen(reader, seen, page);
    else if (seen && page.at?.position === seen.position && page.at.id !== seen.id) throw new LogWentBack(seen, page.at.id);
    const newest = page.events.at(-1);
    if (newest) seen = { position: newest.position, id: newest.id };
    // What came before a failure is whole and in order.
    last = page.last;
    if (page.events.length > 0) yield page.events;
    if (page.isAway) {
      await delay(backoffMs, undefined, { signal }).catch(() => {});
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
      continue;
    }
    if (!page.isCut) await bell.waitAfter(last, heard, { timeoutMs: POLL_MS, signal });
  }
  if (!aborted.aborted) throw new LogUnavailable('the event log is closed');
}

/**
 * The event before a page is still there. Mostly the page has begun with it; where it began with a record that the server wrote for
 * itself, which the server may also clean away, the event is looked for.
 */
const demandSeen = async (reader: Reader, seen: Seen, page: PageOfAll): Promise<void> => {
  const found = page.at?.position === seen.position ? page.at.id : await readEventAt(reader, seen.position);
  if (found !== seen.id) throw new LogWentBack(seen, found);
};

/** No record begins any more where one was read from, or another does: then the event before is gone as well. */
const explain = async (reader: Reader, seen: Seen | undefined, error: unknown): Promise<never> => {
  if (!seen || !signalsNoRecord(error)) throw error;
  const found = await readEventAt(reader, seen.position);
  throw found === seen.id ? error : new LogWentBack(seen, found);
};

const signalsNoRecord = (error: unknown): boolean => error instanceof Error && (isNoRecord(error) || isNoRecord(error.cause));

type PageOfAll = {
  /** The event at the position that the page comes after. */
  readonly at: Seen | undefined;
  readonly events: readonly RecordedEvent[];
  /** The position of the last record read, also where that is the server's own, so that it is not read again and again. */
  readonly last: Position;
  readonly isCut: boolean;
  readonly isAway: boolean;
};

const readAfter = async (reader: Reader, after: Position, signal: AbortSignal): Promise<PageOfAll> => {
  const events: RecordedEvent[] = [];
  let at: Seen | undefined;
  let last = after;
  let first: Position | undefined;
  let records = 0;
  let bytes = 0;
  let isAway = false;
  const onEvent = ({ event }: { readonly event?: StoredEvent }): boolean => {
    if (!event) return true;
    const position = positionOf(event);
    records += 1;
    // Reading from a position is inclusive: the first is the one that was read last.
    if (position === after && records === 1) {
      at = { position, id: event.id as EventId };
      return true;
    }
    if (position <= last) throw new Error(`EventStoreDB answered position ${position} behind position ${last}`);
    // Positions count the bytes of the server's log, so their difference bounds what a page holds.
    first ??= position;
    bytes = position - first;
    last = position;
    if (!isOfSystem(event)) events.push(toEvent(event, position));
    return bytes < PAGE_BYTES_MAX;
  };
  const read = reader.client.readAll({ fromPosition: placeOf(after), maxCount: PAGE_EVENTS_MAX });
  try {
    await takeAll(read, { onEvent, silenceMaxMs: reader.silenceMaxMs, signal });
  } catch (error) {
    if (failureOf(error) !== 'passing') throw refusalOf(error, `to read on from position ${after} (is it one of another log?)`);
    isAway = true;
  }
  return { at, events, last, isCut: records === PAGE_EVENTS_MAX || bytes >= PAGE_BYTES_MAX, isAway };
};
