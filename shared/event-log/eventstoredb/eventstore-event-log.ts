// Over 200 lines, because it is one adapter: the event log on EventStoreDB.
import { randomUUID } from 'node:crypto';
import { BACKWARDS, END, type EventStoreDBClient } from '@eventstore/db-client';
import type { LogIdentity, Position, StreamName, Version } from '#shared/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { askAgain } from '../ask-again.ts';
import { checkAppend } from '../check-append.ts';
import { InvalidAppend, LogWentBack, StaleVersion } from '../errors.ts';
import { type EventLog, FIRST, NO_STREAM, type Seen, START } from '../event-log.ts';
import { REQUEST_BUDGET_MS } from '../request-deadline.ts';
import { Appender, type AppendTiming, eventOfLog } from './append.ts';
import { AppendClient, type Stored } from './append-client.ts';
import { findCuttable } from './cut-streams.ts';
import { readEventAt } from './event-at.ts';
import { findBack } from './find-back.ts';
import { createFollow, readAfter } from './follow.ts';
import { LiveTail } from './live-tail.ts';
import {
  ask,
  PAGE_EVENTS_MAX,
  type Reader,
  readFirst,
  readingOf,
  readStreamPages,
  refuseIfClosed,
} from './read.ts';
import { createReadCheck } from './read-check.ts';
import { ReadConnection } from './read-connection.ts';
import { takeAll } from './reading.ts';
import { IDENTITY_STREAM, isOfSystem, positionOf } from './record.ts';
import { LATE_MS } from './retry.ts';
import { serverPositionOf } from './server-positions.ts';

const LAST = Number.MAX_SAFE_INTEGER as Version;

type Timing = AppendTiming & { readonly silenceMaxMs: number };

/**
 * An attempt times out early enough for others to follow; only a silent server needs that, because an
 * unreachable one fails at once.
 */
const TIMING: Timing = { retryBudgetMs: REQUEST_BUDGET_MS, answerWithinMs: 3_000, silenceMaxMs: 5_000 };

/**
 * The event log in EventStoreDB: a stream is a stream, and a position is that of the event in the server’s
 * log.
 */
export const openEventStoreEventLog = async ({
  url,
  clock,
  timing = TIMING,
}: {
  url: string;
  clock: Clock;
  timing?: Timing;
}): Promise<EventLog> => {
  await using opening = new AsyncDisposableStack();
  const connection = opening.use(new ReadConnection(url));
  const closed = new AbortController();
  opening.defer(() => closed.abort());
  const reader: Reader = { connection, clock, closed: closed.signal, ...timing };
  const live = opening.use(new LiveTail(reader, (after) => readAfter(reader, after)));
  const client = opening.use(
    new AppendClient({
      url,
      silenceMaxMs: timing.answerWithinMs,
      onNotReady: (host) => connection.leave(host),
    }),
  );
  const appender = opening.use(
    new Appender({ client, reader: { ...reader, silenceMaxMs: timing.answerWithinMs }, timing }),
  );
  const head = headOf(reader);
  // A user who may not read everything is refused here, and not by the first follower.
  await head();
  const identity = await takeIdentity(reader, appender);
  const checkReads = createReadCheck({ head, clock, retryBudgetMs: timing.retryBudgetMs });
  const demandSameHistory = createSameHistory(reader);
  const resources = opening.move();
  return {
    identity,
    append: async (stream, expected, events, { seen, reads = [] } = {}) => {
      // An append of EventStoreDB can expect the version of one stream only.
      if (reads.length > 0)
        throw new InvalidAppend(`EventStoreDB cannot check other streams in an append to ${stream}`);
      const stored = await appender.append({
        stream,
        expected,
        events: checkAppend(stream, expected, events),
      });
      await demandSameHistory(stored, seen);
      const { version, position } = stored;
      return { version, position };
    },
    read: (stream, from = FIRST, to = LAST) => readStreamPages(reader, stream, { from, to }),
    find: (stream, id, after) => findBack(reader, stream, { id, after }),
    follow: createFollow(reader, live),
    cutStreams: () => findCuttable(reader),
    eventAt: (position) => readEventAt(reader, position),
    head,
    late: { ms: LATE_MS, clock },
    check: async () => {
      await checkReads();
      await appender.check();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/**
 * Checks that the last seen event still exists, after an append that another server process acknowledged than
 * the one before. A process never truncates its log while it runs, and checking after each append would
 * double its duration.
 */
const createSameHistory = (reader: Reader): ((stored: Stored, seen: Seen | undefined) => Promise<void>) => {
  let proven: symbol | undefined;
  return async ({ server }, seen) => {
    if (seen === undefined || server === proven) return;
    const found = await askAgain(
      () => readEventAt(reader, seen.position),
      { ms: LATE_MS, clock: reader.clock },
      (id) => id !== undefined,
    );
    if (found !== seen.id) throw new LogWentBack(seen, found);
    proven = server;
  };
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The first event of a stream of our own identifies the log. If several processes open it first at the same
 * time, one writes it and all read it.
 */
const takeIdentity = async (reader: Reader, appender: Appender): Promise<LogIdentity> => {
  const known = await readIdentity(reader);
  if (known) return known;
  const event = eventOfLog('log.identified', { identity: randomUUID() });
  try {
    await appender.append({ stream: IDENTITY_STREAM as StreamName, expected: NO_STREAM, events: [event] });
  } catch (error) {
    if (!(error instanceof StaleVersion)) throw error;
  }
  const written = await readIdentity(reader);
  if (!written)
    throw new Error(`the log's identity was written to ${IDENTITY_STREAM}, but cannot be read there`);
  return written;
};

const readIdentity = async (reader: Reader): Promise<LogIdentity | undefined> => {
  const first = await readFirst(reader, IDENTITY_STREAM);
  if (!first) return undefined;
  const { data } = first;
  if (
    typeof data === 'object' &&
    'identity' in data &&
    typeof data.identity === 'string' &&
    UUID.test(data.identity)
  )
    return data.identity as LogIdentity;
  throw new Error(
    `the first event of ${IDENTITY_STREAM} does not name the log: it was not written by Annals`,
  );
};

/** Up to this record, `event` is the last event; only records of the server itself came after it. */
type Known = { readonly record: Position; readonly event: Position };

/**
 * Returns a function that finds the position of the last event, which a follower reaches, unlike one of the
 * server’s own records behind it. Reads each of those once: a log without appends for days has many of them.
 */
const headOf = (reader: Reader): (() => Promise<Position>) => {
  let known = UNKNOWN;
  return () =>
    ask(reader, 'a read of $all', async () => {
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
    // The record is gone: the log was scavenged, or restored to an earlier time.
    if (last < known.record) return readBackTo(reader, UNKNOWN);
    from = serverPositionOf(last);
  }
};

type FromPosition = NonNullable<NonNullable<Parameters<EventStoreDBClient['readAll']>[0]>['fromPosition']>;
type Range = { readonly from: FromPosition; readonly recordsMax: number; readonly downTo: Position };
type Page = {
  readonly first: Position | undefined;
  readonly last: Position | undefined;
  readonly event: Position | undefined;
};

/** Reads back to the first event, or to a record. */
const readBack = async (reader: Reader, { from, recordsMax, downTo }: Range): Promise<Page> => {
  const positions: Position[] = [];
  let event: Position | undefined;
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
      if (!isOfSystem(stored)) event = position;
      return event === undefined && position > downTo;
    },
  });
  refuseIfClosed(reader);
  return { first: positions[0], last: positions.at(-1), event };
};
