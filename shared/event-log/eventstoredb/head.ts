import { BACKWARDS, END, type EventStoreDBClient } from '@eventstore/db-client';
import type { Position } from '#shared/brands.ts';
import { START } from '../event-log.ts';
import { placeOf } from './places.ts';
import { ask, PAGE_EVENTS_MAX, type Reader, readingOf, refuseIfClosed } from './read.ts';
import { takeAll } from './reading.ts';
import { isOfSystem, positionOf } from './record.ts';

/** Up to this record, this is the last event; behind it came only what the server wrote for itself. */
type Known = { readonly record: Position; readonly event: Position };

/**
 * How to ask for the position of the last event, which a follower reaches, unlike one of the server's own records behind it.
 * Those are read once: a log that nobody appends to for days has many of them.
 */
export const headOf = (reader: Reader): (() => Promise<Position>) => {
  let known = UNKNOWN;
  return () =>
    ask(reader, 'a read of its last event', async () => {
      known = await readBackTo(reader, known);
      return known.event;
    });
};

const UNKNOWN: Known = { record: START, event: START };

const readBackTo = async (reader: Reader, known: Known): Promise<Known> => {
  let newest: Position | undefined;
  let from: FromPosition = END;
  // Mostly the last record is an event.
  for (let recordsMax = 1; ; recordsMax = PAGE_EVENTS_MAX) {
    const { first, last, event } = await readBack(reader, { from, recordsMax, downTo: known.record });
    newest ??= first;
    if (newest === undefined || last === undefined) return { record: newest ?? START, event: START };
    if (event !== undefined) return { record: newest, event };
    if (last === known.record) return { record: newest, event: known.event };
    // The record is not there any more: the log was cleaned up, or restored to an earlier time.
    if (last < known.record) return readBackTo(reader, UNKNOWN);
    from = placeOf(last);
  }
};

type FromPosition = NonNullable<NonNullable<Parameters<EventStoreDBClient['readAll']>[0]>['fromPosition']>;
type Range = { readonly from: FromPosition; readonly recordsMax: number; readonly downTo: Position };
type Page = { readonly first: Position | undefined; readonly last: Position | undefined; readonly event: Position | undefined };

/** Reads back to the first event, or to a record. */
const readBack = async (reader: Reader, { from, recordsMax, downTo }: Range): Promise<Page> => {
  const positions: Position[] = [];
  let event: Position | undefined;
  const read = reader.client.readAll({ fromPosition: from, maxCount: recordsMax, direction: BACKWARDS });
  await takeAll(read, {
    ...readingOf(reader),
    onEvent: ({ event: stored }) => {
      if (!stored) return true;
      const position = positionOf(stored);
      positions.push(position);
      if (!isOfSystem(stored)) event = position;
      return event === undefined && position > downTo;
    },
  });
  refuseIfClosed(reader);
  return { first: positions[0], last: positions.at(-1), event };
};
