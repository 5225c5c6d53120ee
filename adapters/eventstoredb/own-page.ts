import { BACKWARDS, END, FORWARDS } from '@eventstore/db-client';
import type { Position } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import { NO_PREFIX } from './own-streams.ts';
import { type Reader, readingOf } from './read.ts';
import { takeAll } from './reading.ts';
import type { StoredEvent } from './record.ts';
import { serverPositionOf } from './server-positions.ts';

type OwnPage = {
  readonly from: Position | typeof END;
  readonly countMax: number;
  /** Returns whether to continue. */
  onRecord(record: StoredEvent): boolean;
};

/**
 * Reads records of the log’s own streams, forwards from a position or backwards from the end; of all streams
 * for a log without a prefix.
 */
export const readOwn = async (reader: Reader, { from, countMax, onRecord }: OwnPage): Promise<void> => {
  const { connection, prefix } = reader;
  const after = from === END ? START : from;
  const read = connection.readAll(prefix, {
    fromPosition: from === END ? END : serverPositionOf(from),
    maxCount: countMax,
    direction: from === END ? BACKWARDS : FORWARDS,
  });
  let isSearch = false;
  const searchMs = async (): Promise<number> => {
    isSearch = true;
    return (((await readLast(reader)) ?? START) - after) / searchedPerMs(connection.searchesTimedOut);
  };
  try {
    await takeAll(read, {
      ...readingOf(reader),
      searchMs: prefix === NO_PREFIX ? undefined : searchMs,
      onEvent: ({ event }: { readonly event?: StoredEvent }) => event === undefined || onRecord(event),
    });
    if (isSearch) connection.searchesTimedOut = 0;
  } catch (error) {
    if (isSearch) connection.searchesTimedOut += 1;
    throw error;
  }
};

/** Bytes. The slowest search seen was a third as fast. */
const SEARCHED_PER_MS = 32_000;
/** A server is always at least so fast. */
const SEARCHED_PER_MS_MIN = 1_000;

/**
 * So that an answer that never comes is not waited for as long as the slowest search, each repetition may take
 * twice as long.
 */
const searchedPerMs = (timedOut: number): number =>
  Math.max(SEARCHED_PER_MS_MIN, SEARCHED_PER_MS / 2 ** timedOut);

/** The position of the last record of all, whoever wrote it. */
export const readLast = async (reader: Reader, onRecord?: (record: StoredEvent) => void) => {
  let last: Position | undefined;
  const read = reader.connection.client.readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 1 });
  await takeAll(read, {
    ...readingOf(reader),
    onEvent({ event }: { readonly event?: StoredEvent }) {
      if (!event) return true;
      last = Number(event.position?.commit ?? 0n) as Position;
      onRecord?.(event);
      return false;
    },
  });
  return last;
};
