import { randomUUID } from 'node:crypto';
import { type JSONEventData, jsonEvent } from '@eventstore/db-client';
import type { LogIdentity, StreamName } from '#shared/brands.ts';
import { askAgain } from '../ask-again.ts';
import { type CheckedEvent, checkAppend } from '../check-append.ts';
import { LogWentBack, StaleVersion } from '../errors.ts';
import { type EventLog, FIRST, type NewEvent, NO_STREAM, type Seen } from '../event-log.ts';
import { Appender, type AppendTiming } from './append.ts';
import { AppendClient, type Stored } from './append-client.ts';
import { LiveBell } from './bell.ts';
import { connect } from './client.ts';
import { readEventAt } from './event-at.ts';
import { follow } from './follow.ts';
import { headOf } from './head.ts';
import { LATE_MS } from './patience.ts';
import { type Reader, readFirst, readStreamPages } from './read.ts';
import { IDENTITY_STREAM } from './record.ts';

type Timing = AppendTiming & { readonly silenceMaxMs: number };

/** A try is given up early enough for others to follow; only a silent server needs that, one that is away says so at once. */
const TIMING: Timing = { patienceMs: 10_000, answerWithinMs: 3_000, silenceMaxMs: 5_000 };

/** The event log in EventStoreDB: a stream is a stream, and a position is where the server's log holds the event. */
export const openEventStoreEventLog = async ({ url, timing = TIMING }: { url: string; timing?: Timing }): Promise<EventLog> => {
  await using opening = new AsyncDisposableStack();
  const readers = connect(url);
  opening.defer(() => readers.close());
  const closed = new AbortController();
  opening.defer(() => closed.abort());
  const reader: Reader = { client: readers.client, closed: closed.signal, ...timing };
  const bell = opening.use(new LiveBell(readers.client));
  const client = opening.use(new AppendClient(url, timing.answerWithinMs));
  const appender = opening.use(new Appender({ client, reader: { ...reader, silenceMaxMs: timing.answerWithinMs }, timing }));
  const identity = await takeIdentity(reader, appender);
  const head = headOf(reader);
  const demandSameHistory = createSameHistory(reader);
  const resources = opening.move();
  return {
    identity,
    append: async (stream, expected, events, seen) => {
      const checked = checkAppend(stream, expected, events);
      const data = events.map((event, index) => toEventData(event, checked[index]));
      const stored = await appender.append({ stream, expected, events: data });
      await demandSameHistory(stored, seen);
      const { version, position } = stored;
      return { version, position };
    },
    read: (stream, from) => readStreamPages(reader, stream, from ?? FIRST),
    follow: (after, signal, id) => follow({ reader, bell }, after, signal, id),
    eventAt: (position) => readEventAt(reader, position),
    head,
    lateMs: LATE_MS,
    check: async () => {
      await head();
      await appender.check();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const utf8 = new TextEncoder();

/** The client turns data into JSON itself, but takes metadata as the bytes that were checked. */
const toEventData = ({ id, type, data, metadata }: NewEvent, checked: CheckedEvent | undefined): JSONEventData => ({
  id,
  type,
  data,
  contentType: 'application/json',
  metadata: checked ? utf8.encode(checked.metadata) : metadata,
});

/**
 * Looks whether what was seen is still there, after an append that another process of the server has stored than the one before. A
 * process never cuts its log while it runs, and looking after each append would double what it takes.
 */
const createSameHistory = (reader: Reader): ((stored: Stored, seen: Seen | undefined) => Promise<void>) => {
  let proven: symbol | undefined;
  return async ({ server }, seen) => {
    if (seen === undefined || server === proven) return;
    const found = await askAgain(
      () => readEventAt(reader, seen.position),
      LATE_MS,
      (id) => id !== undefined,
    );
    if (found !== seen.id) throw new LogWentBack(seen, found);
    proven = server;
  };
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The first event of a stream of our own names the log. Of those who open it first at the same time, one writes it and all read it. */
const takeIdentity = async (reader: Reader, appender: Appender): Promise<LogIdentity> => {
  const known = await readIdentity(reader);
  if (known) return known;
  const event = jsonEvent({ type: 'log.identified', data: { identity: randomUUID() } });
  try {
    await appender.append({ stream: IDENTITY_STREAM as StreamName, expected: NO_STREAM, events: [event] });
  } catch (error) {
    if (!(error instanceof StaleVersion)) throw error;
  }
  const written = await readIdentity(reader);
  if (!written) throw new Error(`the log's identity was written to ${IDENTITY_STREAM}, but cannot be read there`);
  return written;
};

const readIdentity = async (reader: Reader): Promise<LogIdentity | undefined> => {
  const first = await readFirst(reader, IDENTITY_STREAM);
  if (!first) return undefined;
  const { data } = first;
  if (typeof data === 'object' && 'identity' in data && typeof data.identity === 'string' && UUID.test(data.identity))
    return data.identity as LogIdentity;
  throw new Error(`the first event of ${IDENTITY_STREAM} does not name the log: it was not written by Annals`);
};
