import { ANY, type AppendResult, type JSONEventData, NO_STREAM as NO_STREAM_YET } from '@eventstore/db-client';
import type { StreamName, Version } from '#shared/brands.ts';
import { AppendTooLarge, InvalidAppend, LogUnavailable, StaleVersion } from '../errors.ts';
import { APPEND_BYTES_MAX, type Appended, type ExpectedVersion, NO_STREAM } from '../event-log.ts';
import type { AppendClient } from './append-client.ts';
import { findEarlier, findEarlierFromEnd } from './earlier.ts';
import { failureOf, PassingFailure, refusalOf, WrongVersion } from './failures.ts';
import { type Attempt, withPatience } from './patience.ts';
import { positionAt, revisionOf, versionAt } from './places.ts';
import type { Reader } from './read.ts';

export type ProposedAppend = {
  readonly stream: StreamName;
  readonly expected: ExpectedVersion;
  readonly events: readonly JSONEventData[];
};

export type AppendTiming = {
  /** How long an append is tried again while the server is away. */
  readonly patienceMs: number;
  /** How long one try waits for its answer, which may never come. */
  readonly answerWithinMs: number;
};

const WAITING_MAX = 20_000;

/** Appends until it is known what became of it, or patience ends. */
export class Appender implements AsyncDisposable {
  readonly #client: AppendClient;
  readonly #reader: Reader;
  readonly #timing: AppendTiming;
  readonly #pending = new Set<Promise<Appended>>();
  #closed = false;

  constructor({ client, reader, timing }: { client: AppendClient; reader: Reader; timing: AppendTiming }) {
    this.#client = client;
    this.#reader = reader;
    this.#timing = timing;
  }

  append(proposed: ProposedAppend): Promise<Appended> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the event log is closed'));
    if (this.#pending.size >= WAITING_MAX) return Promise.reject(new LogUnavailable(`${WAITING_MAX} appends are waiting already`));
    const what = `an append to ${proposed.stream}`;
    const appending = withPatience({ what, patienceMs: this.#timing.patienceMs }, (attempt) => this.#try(proposed, attempt)).catch(
      (error: unknown) => {
        throw translate(error, proposed);
      },
    );
    this.#pending.add(appending);
    return appending.finally(() => this.#pending.delete(appending));
  }

  /** Finishes what waits, which each append does within its own patience. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#pending);
  }

  async #try(proposed: ProposedAppend, { isRepeat, leftMs }: Attempt): Promise<Appended> {
    const answerWithinMs = Math.max(1, Math.min(this.#timing.answerWithinMs, leftMs));
    if (!isRepeat) return this.#send(proposed, proposed.expected, answerWithinMs);
    if (proposed.expected === 'any') return this.#repeatAny(proposed, answerWithinMs);
    try {
      // With an exact expectation the server compares the ids that stand there, and answers a repeat as the first time.
      return await this.#send(proposed, proposed.expected, answerWithinMs);
    } catch (error) {
      if (failureOf(error) !== 'wrong-version') throw error;
      const earlier = await findEarlier(this.#reader, proposed, revisionOf((proposed.expected + 1) as Version));
      if (earlier) return earlier;
      throw error;
    }
  }

  /**
   * Without an exact expectation the server knows a repeat only by ids that it holds in memory, and a restart empties it.
   * So it is looked up, and appended where the stream ended when it was not found there: then an earlier try cannot slip in unseen.
   */
  async #repeatAny(proposed: ProposedAppend, answerWithinMs: number): Promise<Appended> {
    const { earlier, version } = await findEarlierFromEnd(this.#reader, proposed);
    if (earlier) return earlier;
    try {
      return await this.#send(proposed, version, answerWithinMs);
    } catch (error) {
      if (failureOf(error) === 'wrong-version')
        throw new PassingFailure(`${proposed.stream} went on from version ${version}`, { cause: error });
      throw error;
    }
  }

  async #send(proposed: ProposedAppend, expected: ExpectedVersion, answerWithinMs: number): Promise<Appended> {
    const { stream, events } = proposed;
    const answer = await this.#client.send({ stream, events, expected: expectedRevision(expected) }, answerWithinMs);
    // So the client tells a wrong version when the address sets throwOnAppendFailure=false, and then its revision is wrong.
    if (!answer.success) throw new WrongVersion(`${stream} is not at version ${expected}`);
    const version = checkedVersion(answer, expected, proposed);
    if (answer.position) return { version, position: positionAt(answer.position) };
    const stored = await findEarlier(this.#reader, proposed, revisionOf((version - events.length + 1) as Version));
    if (!stored) throw new Error(`EventStoreDB answered that ${stream} reached version ${version}, but the events are not there`);
    return stored;
  }
}

const expectedRevision = (expected: ExpectedVersion) => {
  if (expected === 'any') return ANY;
  return expected === NO_STREAM ? NO_STREAM_YET : revisionOf(expected);
};

/** A stream that was deleted outside takes any expectation and goes on numbering where it was, which no reader of ours would understand. */
const checkedVersion = (answer: AppendResult, expected: ExpectedVersion, { stream, events }: ProposedAppend): Version => {
  const version = versionAt(answer.nextExpectedRevision);
  const fits = expected === 'any' ? version >= events.length : version === expected + events.length;
  if (!fits)
    throw new Error(
      `${stream} was expected at version ${expected} and took ${events.length} events, but EventStoreDB answered version ${version}: was the stream deleted by hand?`,
    );
  return version;
};

const translate = (error: unknown, { stream, expected, events }: ProposedAppend): unknown => {
  switch (failureOf(error)) {
    case 'wrong-version':
      return new StaleVersion(stream, expected, { cause: error });
    case 'deleted':
      return new InvalidAppend(`${stream} was deleted for good in EventStoreDB and takes no more events`, { cause: error });
    case 'too-large':
      return new AppendTooLarge(
        `the data of an append to ${stream}`,
        events.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0),
        limitIn(error),
      );
    case 'missing':
    case 'passing':
    case 'refused':
      return refusalOf(error, `an append to ${stream}`);
  }
};

/** The server may be set to a lower limit than is usual. */
const limitIn = (error: unknown): number =>
  error instanceof Error && 'maxAppendSize' in error && typeof error.maxAppendSize === 'number' ? error.maxAppendSize : APPEND_BYTES_MAX;
