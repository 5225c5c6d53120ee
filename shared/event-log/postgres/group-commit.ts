// Over 200 lines, because it is one class: how concurrent appends share a transaction.
import type { StreamName } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CheckedEvent } from '../check-append.ts';
import { LogUnavailable, StaleVersion } from '../errors.ts';
import type { AppendedToSeveral, ExpectedVersion, ReadAt, Seen } from '../event-log.ts';
import { retryBudgetOf } from '../request-deadline.ts';

type Part = {
  readonly stream: StreamName;
  readonly expected: ExpectedVersion;
  readonly events: readonly CheckedEvent[];
};

export type ProposedAppend = Part & {
  /** The log must still have it. */
  readonly seen?: Seen | undefined;
  /**
   * Must still be at these versions. Such an append has a batch of its own, because others in the batch could
   * change them.
   */
  readonly reads?: readonly ReadAt[] | undefined;
  /** Events of other streams, in a batch of its own too. */
  readonly also?: readonly Part[] | undefined;
};

/**
 * Stores a batch in one transaction; returns each append’s outcome, in order, or undefined if its expectation
 * was wrong.
 */
export type StoreBatch = (batch: readonly ProposedAppend[]) => Promise<Outcomes>;
export type Outcomes = readonly (AppendedToSeveral | undefined)[];

type Waiting = ProposedAppend & {
  /**
   * The caller has its result: the stored events, a refusal, or the end of the retry budget, whatever became
   * of the append.
   */
  readonly isOver: () => boolean;
  resolve(appended: AppendedToSeveral): void;
  reject(error: unknown): void;
};

const BATCH_EVENTS_MAX = 1_000;
const BATCH_BYTES_MAX = 8 * 1_048_576;
const WAITING_MAX = 20_000;
/** The least time in which an append can succeed. */
const LEAST_MS = 200;
const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 500;

/**
 * Puts concurrent appends into one transaction, with one transaction in flight. It sends waiting appends at
 * once and never waits for more: a timer of 1 ms halves the rate at 32 writers and quarters it at one, and a
 * second batch in flight costs a quarter on streams with many writers.
 */
export class GroupCommit implements AsyncDisposable {
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #closed = false;
  #unanswered = 0;
  #lastFailure: unknown;
  readonly #store: StoreBatch;
  readonly #isPassing: (error: unknown) => boolean;
  readonly #retryBudgetMs: number;
  readonly #clock: Clock;

  /** `isPassing` decides which failures a retry may not meet; those are retried for `retryBudgetMs`. */
  constructor({
    store,
    isPassing,
    retryBudgetMs,
    clock,
  }: { store: StoreBatch; isPassing: (error: unknown) => boolean; retryBudgetMs: number; clock: Clock }) {
    this.#store = store;
    this.#isPassing = isPassing;
    this.#retryBudgetMs = retryBudgetMs;
    this.#clock = clock;
  }

  append(proposed: ProposedAppend): Promise<AppendedToSeveral> {
    if (this.#closed) return Promise.reject(new LogUnavailable('the event log is closed'));
    if (this.#unanswered >= WAITING_MAX)
      return Promise.reject(new LogUnavailable(`${WAITING_MAX} appends are already waiting`));
    const { promise, resolve, reject } = Promise.withResolvers<AppendedToSeveral>();
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      this.#unanswered -= 1;
      retryBudget[Symbol.dispose]();
    };
    const waiting: Waiting = {
      ...proposed,
      isOver: () => isOver,
      resolve: (appended) => {
        end();
        resolve(appended);
      },
      reject: (error) => {
        end();
        reject(error);
      },
    };
    // The retry budget has a timer of its own, so that no caller waits longer for a batch that hangs, even
    // another’s.
    const retryBudget = this.#clock.after(Math.max(LEAST_MS, retryBudgetOf(this.#retryBudgetMs)), () =>
      waiting.reject(this.#unavailable(proposed.stream)),
    );
    this.#unanswered += 1;
    this.#waiting.push(waiting);
    this.#running ??= this.#run();
    return promise;
  }

  /** Finishes the waiting appends. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // The appends of one turn of the event loop’s microtasks go together.
    await Promise.resolve();
    let backoffMs = BACKOFF_FIRST_MS;
    while (this.#waiting.length > 0) {
      const again = await this.#send(this.#take());
      if (again.length === 0) backoffMs = BACKOFF_FIRST_MS;
      else {
        this.#waiting = [...again, ...this.#waiting];
        await this.#clock.sleep(backoffMs);
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
      }
    }
    this.#running = undefined;
  }

  /**
   * Takes appends that fit into one batch: of a stream one append, or several that all expect any version.
   * Others wait, in order.
   */
  #take(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const joinable = new Map<StreamName, boolean>();
    let [events, bytes, isRead] = [0, 0, false];
    for (const append of this.#waiting) {
      if (append.isOver()) continue;
      const size = append.events.reduce((sum, event) => sum + event.bytes, 0);
      const fits =
        batch.length === 0 ||
        (events + append.events.length <= BATCH_EVENTS_MAX && bytes + size <= BATCH_BYTES_MAX);
      const isAny = append.expected === 'any';
      const isApart = batch.length > 0 && (isRead || isReading(append));
      const joins =
        fits && !isApart && (joinable.get(append.stream) ?? true) && (isAny || !joinable.has(append.stream));
      joinable.set(append.stream, joins && isAny);
      if (!joins) {
        left.push(append);
        continue;
      }
      batch.push(append);
      events += append.events.length;
      bytes += size;
      isRead ||= isReading(append);
    }
    this.#waiting = left;
    return batch;
  }

  /**
   * Returns the appends to retry, in order; none if the engine works, so that the next batch may follow at
   * once.
   */
  async #send(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    if (batch.length === 0) return [];
    try {
      settle(batch, await this.#store(batch));
      this.#lastFailure = undefined;
      return [];
    } catch (error) {
      if (this.#isPassing(error)) {
        this.#lastFailure = error;
        return batch;
      }
      if (batch.length > 1) return this.#sendAlone(batch);
      batch[0]?.reject(error);
      return [];
    }
  }

  /**
   * One append that cannot be stored must not fail the others of its batch. If the engine is unreachable, the
   * rest stays together.
   */
  async #sendAlone(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    for (const [index, append] of batch.entries()) {
      const again = await this.#send([append]);
      if (again.length > 0) return batch.slice(index);
    }
    return [];
  }

  #unavailable(stream: StreamName): LogUnavailable {
    return new LogUnavailable(
      `the event log did not accept an append to ${stream} within ${this.#retryBudgetMs} ms`,
      {
        cause: this.#lastFailure,
      },
    );
  }
}

const isReading = ({ reads = [], also = [] }: ProposedAppend): boolean => reads.length + also.length > 0;

const settle = (batch: readonly Waiting[], outcomes: Outcomes): void => {
  for (const [index, { stream, expected, resolve, reject }] of batch.entries()) {
    const appended = outcomes[index];
    if (appended) resolve(appended);
    else reject(new StaleVersion(stream, expected));
  }
};
