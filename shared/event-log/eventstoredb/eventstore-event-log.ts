import type { JSONEventData } from '@eventstore/db-client';
import { type CheckedEvent, checkAppend } from '../check-append.ts';
import { type EventLog, FIRST, type NewEvent } from '../event-log.ts';
import { Appender, type AppendTiming } from './append.ts';
import { AppendClient } from './append-client.ts';
import { LiveBell } from './bell.ts';
import { connect } from './client.ts';
import { readEventAt } from './event-at.ts';
import { follow } from './follow.ts';
import { headOf } from './head.ts';
import { takeIdentity } from './identity.ts';
import { LATE_MS } from './patience.ts';
import { type Reader, readStreamPages } from './read.ts';
import { createSameHistory } from './same-history.ts';

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
