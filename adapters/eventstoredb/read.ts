import { BACKWARDS, END, FORWARDS } from '@eventstore/db-client';
import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { AuthenticLog } from '#shared/authentic-events/authentic-log.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { LogUnavailable, StreamCut } from '#shared/event-log/errors.ts';
import { FIRST, type RecordedEvent, type Seen, START } from '#shared/event-log/event-log.ts';
import { isInRequest } from '#shared/event-log/request-deadline.ts';
import { failureOf, PassingFailure, refusalOf } from './failures.ts';
import type { Neighbours } from './neighbours.ts';
import { NO_PREFIX, type StreamPrefix } from './own-streams.ts';
import type { ReadConnection } from './read-connection.ts';
import { type Reading, takeAll } from './reading.ts';
import { METADATA_STREAM_PREFIX, type StoredEvent, toEvent } from './record.ts';
import { withRetries } from './retry.ts';
import { revisionOf } from './server-positions.ts';

export const PAGE_EVENTS_MAX = 1_000;

/** A page ends with the event that exceeds this, so that a thousand large events do not fill the memory. */
export const PAGE_BYTES_MAX = 16 * 1_048_576;

export type Reader = {
  readonly connection: ReadConnection;
  readonly prefix: StreamPrefix;
  /** Needed by a log without a prefix. */
  readonly neighbours: Neighbours;
  /**
   * The record of the log’s identity: nothing of the log is before it. Undefined for a log without a prefix,
   * which may begin anywhere.
   */
  readonly begin: Seen | undefined;
  /** Without it, MACs are not checked. */
  readonly authentic?: AuthenticLog | undefined;
  readonly clock: Clock;
  /** The retry budget of a read while the server is unreachable. */
  readonly retryBudgetMs: number;
  readonly silenceMaxMs: number;
  /** Aborts when the log is closed. */
  readonly closed: AbortSignal;
};

type Page = {
  readonly events: readonly StoredEvent[];
  /** The page was cut, by its count or by its bytes, so there may be more. */
  readonly isCut: boolean;
  /** The stream was never written, or was deleted. */
  readonly isMissing: boolean;
};

/** Reads a page of a stream of the log from a revision on; a missing stream has no events. */
export const readPage = async (
  reader: Reader,
  stream: string,
  options: { from: bigint; countMax?: number },
): Promise<Page> => readRevisions(reader, stream, { ...options, direction: FORWARDS });

/** Reads a page of a stream from a revision back to its beginning. */
export const readPageBack = async (
  reader: Reader,
  stream: string,
  from: bigint | typeof END,
  countMax = PAGE_EVENTS_MAX,
): Promise<Page> => readRevisions(reader, stream, { from, countMax, direction: BACKWARDS });

type Revisions = {
  from: bigint | typeof END;
  countMax?: number;
  direction: typeof FORWARDS | typeof BACKWARDS;
};

const readRevisions = async (
  reader: Reader,
  stream: string,
  { from, countMax = PAGE_EVENTS_MAX, direction }: Revisions,
): Promise<Page> => {
  const events: StoredEvent[] = [];
  let bytes = 0;
  let isMissing = false;
  const read = reader.connection.client.readStream(`${reader.prefix}${stream}`, {
    fromRevision: from,
    maxCount: countMax,
    direction,
  });
  try {
    await takeAll(read, {
      ...readingOf(reader),
      onEvent: ({ event }) => {
        if (!event) return true;
        events.push(event);
        bytes += JSON.stringify(event.data).length;
        return bytes < PAGE_BYTES_MAX;
      },
    });
  } catch (error) {
    isMissing = failureOf(error) === 'missing';
    if (!isMissing) throw error;
  }
  refuseIfClosed(reader);
  return { events, isCut: events.length === countMax || bytes >= PAGE_BYTES_MAX, isMissing };
};

type Versions = { readonly from: Version; readonly to: Version };

export async function* readStreamPages(
  reader: Reader,
  stream: StreamName,
  { from, to }: Versions,
): AsyncGenerator<readonly RecordedEvent[]> {
  for (let next = from; next <= to; ) {
    const countMax = Math.min(PAGE_EVENTS_MAX, to - next + 1);
    const { events, isCut, isMissing } = await ask(reader, `a read of ${stream}`, () =>
      readPage(reader, stream, { from: revisionOf(next), countMax }),
    ).catch(asCut(stream, next));
    if (isMissing) return await demandNeverWritten(reader, stream);
    // A stream that is there has its first event, unless that was cut.
    if (events.length === 0 && next === FIRST) throw new StreamCut(stream, { from: FIRST });
    const page = events.map((event) => toEvent(event, reader));
    for (const { version } of page) next = following(stream, next, version);
    if (page.length > 0) yield page;
    if (!isCut) return;
  }
}

const following = (stream: StreamName, expected: Version, version: Version): Version => {
  if (version !== expected) throw new StreamCut(stream, { from: expected, to: (version - 1) as Version });
  return (version + 1) as Version;
};

/**
 * Throws if a stream that reads as missing was deleted: the server tells the difference only in its metadata.
 * Limits of number and age never make a stream missing.
 */
export const demandNeverWritten = async (reader: Reader, stream: StreamName): Promise<void> => {
  const { events } = await ask(reader, `a read of the metadata of ${stream}`, () =>
    readPageBack(
      { ...reader, prefix: NO_PREFIX },
      `${METADATA_STREAM_PREFIX}${reader.prefix}${stream}`,
      END,
      1,
    ),
  );
  const [metadata] = events;
  if (metadata && hasMark(metadata.data)) throw new StreamCut(stream, { from: FIRST });
};

const hasMark = (metadata: unknown): boolean =>
  typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, '$tb');

/** A stream that was deleted permanently refuses every read. */
const asCut =
  (stream: StreamName, from: Version) =>
  (error: unknown): never => {
    throw isOfDeleted(error) ? new StreamCut(stream, { from }, { cause: error }) : error;
  };

export const isOfDeleted = (error: unknown): boolean =>
  [error, (error as Error | undefined)?.cause].some((each) => failureOf(each) === 'deleted');

export const ask = <Answer>(
  { retryBudgetMs, clock }: Reader,
  what: string,
  attempt: () => Promise<Answer>,
): Promise<Answer> =>
  withRetries({ what, retryBudgetMs }, (leftMs) =>
    // The server may be silent for longer than the rest of a request’s budget.
    isInRequest() ? within(Math.max(LEAST_MS, leftMs), attempt(), clock) : attempt(),
  ).catch((error: unknown) => {
    throw refusalOf(error, what);
  });

/** The least time in which a read can succeed. */
const LEAST_MS = 200;

const within = async <Answer>(ms: number, reading: Promise<Answer>, clock: Clock): Promise<Answer> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = clock.after(ms, () => reject(new PassingFailure('EventStoreDB sent nothing in time')));
  return await Promise.race([reading, late]);
};

export const beginOf = ({ begin }: Reader): Position => begin?.position ?? START;

export const readingOf = ({
  connection,
  silenceMaxMs,
  closed,
}: Reader): Omit<Reading<unknown>, 'onEvent'> => ({
  connection,
  silenceMaxMs,
  signal: closed,
});

export const refuseIfClosed = ({ closed }: Reader): void => {
  if (closed.aborted) throw new LogUnavailable('the event log is closed');
};
