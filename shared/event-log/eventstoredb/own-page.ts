import { BACKWARDS, END, FORWARDS } from '@eventstore/db-client';
import type { Position } from '#kernel/base/brands.ts';
import { START } from '../event-log.ts';
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
  await takeAll(read, {
    ...readingOf(reader),
    searchMs:
      prefix === NO_PREFIX
        ? undefined
        : async () => (((await readLast(reader)) ?? START) - after) / SEARCHED_BYTES_PER_MS,
    onEvent: ({ event }: { readonly event?: StoredEvent }) => event === undefined || onRecord(event),
  });
};

/** A server searches at least so fast: ten times as fast was the slowest seen. */
const SEARCHED_BYTES_PER_MS = 1_000;

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
