// Over 200 lines, because it is one class: an append with its timeouts, retries and failures.
import { randomUUID } from 'node:crypto';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { type CheckedEvent, checkEvent } from '#shared/event-log/check-append.ts';
import { AppendTooLarge, LogUnavailable, StaleVersion, StreamCut } from '#shared/event-log/errors.ts';
import { APPEND_BYTES_MAX, type ExpectedVersion, FIRST } from '#shared/event-log/event-log.ts';
import { retryBudgetOf } from '#shared/event-log/request-deadline.ts';
import type { Answer, AppendClient, AttemptTime, Stored } from './append-client.ts';
import { findEarlier, findEarlierFromEnd, findEarlierRefused } from './earlier.ts';
import { failureOf, PassingFailure, refusalOf } from './failures.ts';
import type { Reader } from './read.ts';
import { IDENTITY_STREAM } from './record.ts';
import { withRetries } from './retry.ts';
import { revisionOf } from './server-positions.ts';
import { EventTooLarge, MessageTooLarge } from './too-large.ts';

type ProposedAppend = {
  readonly stream: StreamName;
  readonly expected: ExpectedVersion;
  readonly events: readonly CheckedEvent[];
};

export type AppendTiming = {
  /** The retry budget of an append while the server is unreachable. */
  readonly retryBudgetMs: number;
  /** The timeout of one attempt while the server answers nothing else either: its response may never come. */
  readonly answerWithinMs: number;
};

const WAITING_MAX = 20_000;

/** The least time in which an append can succeed. */
const LEAST_MS = 200;

/** No stream reaches this version. */
const LONGEST = Number.MAX_SAFE_INTEGER as Version;

/** Appends, and retries until the outcome is known or the retry budget is used up. */
export class Appender implements AsyncDisposable {
  readonly #client: AppendClient;
  readonly #reader: Reader;
  readonly #timing: AppendTiming;
  /** Since when all appends have failed. */
  #failingSinceMs: number | undefined;
  #pending = 0;
  #onIdle = () => {};
  #closed = false;

  constructor({ client, reader, timing }: { client: AppendClient; reader: Reader; timing: AppendTiming }) {
    this.#client = client;
    this.#reader = reader;
    this.#timing = timing;
  }

  /** Most appends succeed at the first attempt, so that path is the shortest. */
  async append(proposed: ProposedAppend): Promise<Stored> {
    if (this.#closed) throw new LogUnavailable('the event log is closed');
    if (this.#pending >= WAITING_MAX) throw new LogUnavailable(`${WAITING_MAX} appends are already waiting`);
    const { answerWithinMs, retryBudgetMs } = this.#timing;
    const startedAtMs = performance.now();
    this.#pending += 1;
    try {
      const leftMs = Math.max(LEAST_MS, retryBudgetOf(retryBudgetMs));
      const answer = await this.#client.send(proposed, { answerWithinMs, leftMs });
      this.#failingSinceMs = undefined;
      return await this.#appended(answer, proposed, proposed.expected);
    } catch (error) {
      this.#failingSinceMs =
        failureOf(error) === 'passing' ? (this.#failingSinceMs ?? startedAtMs) : undefined;
      if (this.#failingSinceMs === undefined) throw translate(error, proposed);
      return await this.#appendAgain(proposed, startedAtMs, error);
    } finally {
      this.#pending -= 1;
      if (this.#pending === 0) this.#onIdle();
    }
  }

  /**
   * Rejects while appends have failed for longer than their retry budget. It probes by itself then, because
   * nobody appends to a process that is not ready: with an append that can only be refused, because the
   * stream is never that long.
   */
  async check(): Promise<void> {
    const { retryBudgetMs, answerWithinMs } = this.#timing;
    const failingMs = performance.now() - (this.#failingSinceMs ?? Number.POSITIVE_INFINITY);
    if (failingMs <= retryBudgetMs) return;
    const question = { stream: IDENTITY_STREAM, expected: LONGEST, events: [eventOfLog('log.asked', {})] };
    await this.#client.send(question, { answerWithinMs, leftMs: answerWithinMs }).catch((cause: unknown) => {
      if (failureOf(cause) === 'wrong-version') return;
      throw new LogUnavailable(`EventStoreDB has accepted no append for ${Math.round(failingMs)} ms`, {
        cause,
      });
    });
    this.#failingSinceMs = undefined;
  }

  /** Finishes the waiting appends, each within its own retry budget. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#pending === 0) return;
    const { promise: idle, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    await idle;
  }

  async #appendAgain(proposed: ProposedAppend, startedAtMs: number, firstFailure: unknown): Promise<Stored> {
    const { retryBudgetMs, answerWithinMs } = this.#timing;
    const again = {
      what: `an append to ${proposed.stream}`,
      retryBudgetMs,
      leastMs: LEAST_MS,
      startedAtMs,
      firstFailure,
    };
    return withRetries(again, (leftMs) => this.#repeat(proposed, { answerWithinMs, leftMs })).catch(
      (error: unknown) => {
        throw translate(error, proposed);
      },
    );
  }

  /** Repeats an append that was sent before, with an unknown outcome. */
  async #repeat(proposed: ProposedAppend, time: AttemptTime): Promise<Stored> {
    if (proposed.expected === 'any') return this.#repeatAny(proposed, time);
    try {
      // With an exact expectation the server compares the ids at that version, and acknowledges a repeat like
      // the first attempt.
      return await this.#send(proposed, proposed.expected, time);
    } catch (error) {
      if (failureOf(error) !== 'wrong-version') throw error;
      const from = revisionOf((proposed.expected + 1) as Version);
      const earlier = await findEarlierRefused(this.#reader, proposed, { from, refusal: error });
      if (earlier) return earlier;
      throw error;
    }
  }

  /**
   * Without an exact expectation the server recognizes a repeat only by ids in its memory, which a restart
   * clears. So the append is looked up, and otherwise appended at the version where the stream ended during
   * the look-up: then an earlier attempt cannot be stored in between.
   */
  async #repeatAny(proposed: ProposedAppend, time: AttemptTime): Promise<Stored> {
    const { earlier, version } = await findEarlierFromEnd(this.#reader, proposed);
    if (earlier) return earlier;
    try {
      return await this.#send(proposed, version, time);
    } catch (error) {
      if (failureOf(error) === 'wrong-version')
        throw new PassingFailure(`${proposed.stream} went on from version ${version}`, { cause: error });
      throw error;
    }
  }

  async #send(proposed: ProposedAppend, expected: ExpectedVersion, time: AttemptTime): Promise<Stored> {
    const answer = await this.#client.send({ ...proposed, expected }, time);
    this.#failingSinceMs = undefined;
    return this.#appended(answer, proposed, expected);
  }

  #appended(answer: Answer, proposed: ProposedAppend, expected: ExpectedVersion): Stored | Promise<Stored> {
    const { position, server } = answer;
    const version = checkedVersion(answer, expected, proposed);
    return position === undefined ? this.#lookUp(proposed, version) : { version, position, server };
  }

  async #lookUp(proposed: ProposedAppend, version: Version): Promise<Stored> {
    const stored = await findEarlier(
      this.#reader,
      proposed,
      revisionOf((version - proposed.events.length + 1) as Version),
    );
    if (!stored)
      throw new Error(
        `EventStoreDB reported that ${proposed.stream} reached version ${version}, but the events are not there`,
      );
    return stored;
  }
}

/** An event about the log itself. */
export const eventOfLog = (type: string, data: JsonObject): CheckedEvent =>
  checkEvent({ id: randomUUID() as EventId, type, data, metadata: {} });

/**
 * A stream that was deleted by other means accepts any expectation and continues its old numbering, which no
 * reader of ours would understand.
 */
const checkedVersion = (
  { version }: Answer,
  expected: ExpectedVersion,
  { stream, events }: ProposedAppend,
): Version => {
  const fits = expected === 'any' ? version >= events.length : version === expected + events.length;
  if (!fits)
    throw new Error(
      `${stream} was expected at version ${expected} and took ${events.length} events, but EventStoreDB returned version ${version}: was the stream deleted manually?`,
    );
  return version;
};

const translate = (error: unknown, proposed: ProposedAppend): unknown => {
  const { stream, expected } = proposed;
  switch (failureOf(error)) {
    case 'wrong-version':
      return new StaleVersion(stream, expected, { cause: error });
    case 'deleted':
      return new StreamCut(stream, { from: FIRST }, { cause: error });
    case 'too-large':
      return tooLarge(error, proposed);
    case 'missing':
    case 'passing':
    case 'refused':
      return refusalOf(error, `an append to ${stream}`);
  }
};

const tooLarge = (error: unknown, { stream, events }: ProposedAppend): AppendTooLarge => {
  if (error instanceof EventTooLarge)
    return new AppendTooLarge(
      `an event with its type and metadata, in an append to ${stream},`,
      error.bytes,
      error.bytesMax,
    );
  if (error instanceof MessageTooLarge)
    return new AppendTooLarge(`the message of an append to ${stream}`, error.bytes, undefined);
  const bytes = events.reduce((sum, { dataBytes }) => sum + dataBytes, 0);
  return new AppendTooLarge(`the data of an append to ${stream}`, bytes, limitIn(error));
};

/** The server may have a lower limit than usual. */
const limitIn = (error: unknown): number =>
  error instanceof Error && 'maxAppendSize' in error && typeof error.maxAppendSize === 'number'
    ? error.maxAppendSize
    : APPEND_BYTES_MAX;
