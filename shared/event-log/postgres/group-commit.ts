import { setTimeout as delay } from 'node:timers/promises';
import type { StreamName } from '#shared/brands.ts';
import type { CheckedEvent } from '../check-append.ts';
import { LogUnavailable, StaleVersion } from '../errors.ts';
import type { Appended, ExpectedVersion } from '../event-log.ts';

export type ProposedAppend = {
  readonly stream: StreamName;
  readonly expected: ExpectedVersion;
  readonly events: readonly CheckedEvent[];
};

/** Stores a batch in one transaction; in the order asked, each append's outcome, or undefined where its expectation did not hold. */
export type StoreBatch = (batch: readonly ProposedAppend[]) => Promise<readonly (Appended | undefined)[]>;

type Waiting = ProposedAppend & {
  readonly expiresAtMs: number;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
};

const BATCH_EVENTS_MAX = 1_000;
const BATCH_BYTES_MAX = 8 * 1_048_576;
const WAITING_MAX = 20_000;
const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 500;

/**
 * Puts appends that wait at the same time into one transaction, and has one transaction in flight.
 * It sends at once whatever is waiting and never waits for more: a timer of 1 ms halves the rate at 32 writers
 * and quarters it at one, and a second batch in flight costs a quarter on streams that many write to.
 */
export class GroupCommit implements AsyncDisposable {
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  readonly #store: StoreBatch;
  readonly #isPassing: (error: unknown) => boolean;
  readonly #patienceMs: number;

  /** `isPassing` says which failures may be over on a later try; they are tried again for `patienceMs`. */
  constructor({ store, isPassing, patienceMs }: { store: StoreBatch; isPassing: (error: unknown) => boolean; patienceMs: number }) {
    this.#store = store;
    this.#isPassing = isPassing;
    this.#patienceMs = patienceMs;
  }

  append(proposed: ProposedAppend): Promise<Appended> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the event log is closed'));
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(new LogUnavailable(`${WAITING_MAX} appends are waiting already`));
    const { promise, resolve, reject } = Promise.withResolvers<Appended>();
    this.#waiting.push({ ...proposed, expiresAtMs: Date.now() + this.#patienceMs, resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  /** Finishes what is waiting. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // The appends of one turn of the event loop's microtasks go together.
    await Promise.resolve();
    let backoffMs = BACKOFF_FIRST_MS;
    while (this.#waiting.length > 0) {
      const passed = await this.#send(this.#take());
      if (passed) backoffMs = BACKOFF_FIRST_MS;
      else {
        await delay(backoffMs);
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
      }
    }
    this.#running = undefined;
  }

  /** Takes what fits into one batch: of a stream one append, or several that all expect any version. Others wait, in their order. */
  #take(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const joinable = new Map<StreamName, boolean>();
    let events = 0;
    let bytes = 0;
    for (const append of this.#waiting) {
      const size = append.events.reduce((sum, event) => sum + event.bytes, 0);
      const fits = batch.length === 0 || (events + append.events.length <= BATCH_EVENTS_MAX && bytes + size <= BATCH_BYTES_MAX);
      const isAny = append.expected === 'any';
      const joins = fits && (joinable.get(append.stream) ?? true) && (isAny || !joinable.has(append.stream));
      joinable.set(append.stream, joins && isAny);
      if (!joins) {
        left.push(append);
        continue;
      }
      batch.push(append);
      events += append.events.length;
      bytes += size;
    }
    this.#waiting = left;
    return batch;
  }

  /** Answers whether the engine is well, so that the next batch may follow at once. */
  async #send(batch: readonly Waiting[]): Promise<boolean> {
    try {
      settle(batch, await this.#store(batch));
      return true;
    } catch (error) {
      if (this.#isPassing(error)) {
        this.#tryLater(batch, error);
        return false;
      }
      if (batch.length > 1) return this.#sendAlone(batch);
      batch[0]?.reject(error);
      return true;
    }
  }

  /** One append that cannot be stored must not take the others of its batch with it. */
  async #sendAlone(batch: readonly Waiting[]): Promise<boolean> {
    let well = true;
    for (const append of batch) well = (await this.#send([append])) && well;
    return well;
  }

  #tryLater(batch: readonly Waiting[], error: unknown): void {
    const now = Date.now();
    const [over, again] = [batch.filter(({ expiresAtMs }) => expiresAtMs <= now), batch.filter(({ expiresAtMs }) => expiresAtMs > now)];
    for (const { stream, reject } of over) {
      reject(new LogUnavailable(`the event log did not take an append to ${stream} within ${this.#patienceMs} ms`, { cause: error }));
    }
    this.#waiting = [...again, ...this.#waiting];
  }
}

const settle = (batch: readonly Waiting[], outcomes: readonly (Appended | undefined)[]): void => {
  for (const [index, { stream, expected, resolve, reject }] of batch.entries()) {
    const appended = outcomes[index];
    if (appended) resolve(appended);
    else reject(new StaleVersion(stream, expected));
  }
};
