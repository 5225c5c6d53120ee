import { END } from '@eventstore/db-client';
import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { AuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { askAgain } from '#shared/event-log/ask-again.ts';
import { checkAppend } from '#shared/event-log/check-append.ts';
import { InvalidAppend, LogWentBack } from '#shared/event-log/errors.ts';
import {
  type Appended,
  type EventLog,
  FIRST,
  type OfAnother,
  type Seen,
  START,
} from '#shared/event-log/event-log.ts';
import { REQUEST_BUDGET_MS } from '#shared/event-log/request-deadline.ts';
import { Appender, type AppendTiming } from './append.ts';
import { createAppendAuthentic } from './append-authentic.ts';
import { AppendClient, type Stored } from './append-client.ts';
import { findCuttable } from './cut-streams.ts';
import { readEventAt, recordAt } from './event-at.ts';
import { demandTrusted } from './explain-refusal.ts';
import { createFollow, readAfter } from './follow.ts';
import { createHead } from './head.ts';
import { findIdentity, keepIdentity, type Owning, readBegin } from './identity.ts';
import { LiveTail } from './live-tail.ts';
import { macsIn } from './macs-in.ts';
import { Neighbours } from './neighbours.ts';
import { readLast } from './own-page.ts';
import { NO_PREFIX, settingOf } from './own-streams.ts';
import { ask, type Reader, readPageBack, readStreamPages } from './read.ts';
import { createReadCheck } from './read-check.ts';
import { ReadConnection } from './read-connection.ts';
import { positionOf } from './record.ts';
import { LATE_MS } from './retry.ts';
import { versionAt } from './server-positions.ts';

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
  authentic: events,
  ...owning
}: Owning & {
  url: string;
  clock: Clock;
  timing?: Timing;
  /** Without it, appended events get no MAC, and no event needs one. */
  authentic?: AuthenticEvents | undefined;
}): Promise<EventLog> => {
  await using opening = new AsyncDisposableStack();
  const connection = opening.use(new ReadConnection(url));
  await demandTrusted(url);
  const closed = new AbortController();
  opening.defer(() => closed.abort());
  const whole: Reader = {
    ...{ connection, clock, closed: closed.signal, ...timing },
    ...{ prefix: NO_PREFIX, begin: undefined },
    neighbours: new Neighbours((prefix) => readBegin(whole, prefix)),
  };
  const found = await findIdentity(whole, owning);
  const { prefix } = found;
  const client = opening.use(
    new AppendClient({
      ...{ url, prefix },
      silenceMaxMs: timing.answerWithinMs,
      onNotReady: (host) => connection.leave(host),
    }),
  );
  const appender = opening.use(
    new Appender({ client, reader: { ...whole, prefix, silenceMaxMs: timing.answerWithinMs }, timing }),
  );
  // A user who may not read everything is refused here, before anything is written.
  await ask(whole, 'a read of $all', () => readLast(whole));
  const { identity, begin } = await keepIdentity({ reader: { ...whole, prefix }, appender, found }, owning);
  const unchecked: Reader = { ...whole, prefix, begin };
  const uncheckedHead = createHead(unchecked);
  const authentic = await events?.ofLog({
    ...{ identity, showsMacs: true, head: uncheckedHead },
    ...macsIn(unchecked, uncheckedHead),
  });
  const reader: Reader = { ...unchecked, authentic };
  const live = opening.use(new LiveTail(reader, (after, seen) => readAfter(reader, after, seen)));
  const append = createAppendAuthentic({ reader, appender });
  const head = createHead(reader);
  const checkReads = createReadCheck({ head, clock, retryBudgetMs: timing.retryBudgetMs });
  const demandSameHistory = createSameHistory(reader);
  const ofAnother = found.known && found.isOfAnother && (await another(reader, found.known, head));
  const resources = opening.move();
  return {
    identity,
    ...(ofAnother && { ofAnother }),
    append: async (stream, expected, events, { seen, reads = [] } = {}) => {
      if (ofAnother) throw new InvalidAppend('the log belongs to another installation');
      // An append of EventStoreDB can expect the version of one stream only.
      if (reads.length > 0)
        throw new InvalidAppend(`EventStoreDB cannot check other streams in an append to ${stream}`);
      const checked = checkAppend(stream, expected, events);
      const stored = await append({ stream, expected, events: checked });
      await demandSameHistory(stored, seen);
      const { version, position } = stored;
      return { version, position };
    },
    read: (stream, from = FIRST, to = LAST) => readStreamPages(reader, stream, { from, to }),
    find: (stream, id, after) => findBack(reader, stream, { id, after }),
    follow: createFollow(reader, live),
    cutStreams: (after = START) => findCuttable(reader, after),
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

const another = async (
  reader: Reader,
  { owner }: Pick<OfAnother, 'owner'>,
  head: () => Promise<Position>,
): Promise<OfAnother> => {
  const last = await head();
  const newest =
    last === START ? undefined : await ask(reader, 'a look at the last event', () => recordAt(reader, last));
  return { owner, prefix: settingOf(reader.prefix), newestAt: newest?.created };
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

type Sought = { readonly id: EventId; readonly after: Position };

/** Finds an event of a stream after a position, reading the latest first: the server has no index of ids. */
const findBack = async (
  reader: Reader,
  stream: StreamName,
  { id, after }: Sought,
): Promise<Appended | undefined> => {
  for (let from: bigint | typeof END = END; ; ) {
    const { events } = await ask(reader, `a search in ${stream}`, () => readPageBack(reader, stream, from));
    for (const event of events) {
      if (positionOf(event) <= after) return undefined;
      if (event.id === id) return { version: versionAt(event.revision), position: positionOf(event) };
    }
    const oldest = events.at(-1);
    if (oldest === undefined || oldest.revision === 0n) return undefined;
    from = oldest.revision - 1n;
  }
};
