import type pg from 'pg';
import type { Clock, Timer } from '#shared/clock/clock.ts';

/** A caller that waits for a connection, as the pool knows it. */
export type Pending = {
  readonly callback: (
    error: Error | undefined,
    client: pg.PoolClient | undefined,
    release: () => void,
  ) => void;
  /** The caller has had its answer, so it gets no connection. */
  timedOut?: boolean;
};

type Options = {
  readonly clock: Clock;
  /** How long a caller waits. */
  readonly waitMs: number;
  /** Begins an attempt that ends with `failed` or `succeeded`. */
  attempt(timeoutMs: number): void;
  /** Takes callers back when the server is reachable again. */
  resume(pending: readonly Pending[]): void;
};

const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 5_000;
/** Doublings of the first pause after which it has reached its maximum. */
const DOUBLINGS_MAX = 10;
/** A server that has too much to do needs longer; an address that leads nowhere is looked up again after it. */
const ATTEMPT_MAX_MS = 20_000;

/**
 * Connects to a server that is unreachable: one attempt at a time for all callers of a pool, after pauses that
 * grow, each with some chance in it, so that processes and their pools do not come at the same moment. Callers
 * wait for the next attempt, and fail with it. Without callers there are no attempts.
 */
export class Reconnection {
  readonly #options: Options;
  readonly #waiting = new Set<Pending>();
  #failures = 0;
  /** Attempts in a row that got no response at all. */
  #silences = 0;
  #mayBeginAtMs = 0;
  #isBeginning = false;
  /** The client of the present attempt. */
  #attempt: object | undefined;
  #timer: Timer | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The last attempt has failed. */
  get isUnreachable(): boolean {
    return this.#failures > 0;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  wait(pending: Pending): void {
    const waiting: Pending = {
      callback(...given) {
        clearTimeout(timeout);
        pending.callback(...given);
      },
      get timedOut() {
        return pending.timedOut === true;
      },
    };
    const timeout = setTimeout(() => {
      this.#waiting.delete(waiting);
      if (pending.timedOut) return;
      pending.timedOut = true;
      pending.callback(new Error('timeout exceeded when trying to connect'), undefined, () => {});
    }, this.#options.waitMs);
    this.#waiting.add(waiting);
    this.#begin();
  }

  /** Called for each new client, before it connects. */
  created(client: object): void {
    if (this.#isBeginning) this.#attempt = client;
  }

  failed(error: Error, client: object): void {
    const isOwn = client === this.#attempt;
    // Others began before the first failure, which is known.
    if (this.isUnreachable && !isOwn) return;
    this.#attempt = undefined;
    this.#failures += 1;
    this.#silences = 'code' in error ? 0 : this.#silences + 1;
    this.#mayBeginAtMs = this.#options.clock.elapsedMs() + pauseMs(this.#failures);
    this.#fail(error);
  }

  succeeded(): void {
    if (!this.isUnreachable) return;
    this.#failures = 0;
    this.#silences = 0;
    this.#attempt = undefined;
    this.#options.resume(this.#take());
  }

  end(): void {
    this.#fail(new Error('Cannot use a pool after calling end on the pool'));
  }

  #begin(): void {
    if (this.#attempt !== undefined || this.#timer !== undefined) return;
    const { clock, attempt, waitMs } = this.#options;
    this.#timer = clock.after(Math.max(this.#mayBeginAtMs - clock.elapsedMs(), 0), () => {
      this.#timer = undefined;
      if (this.#waiting.size === 0) return;
      this.#isBeginning = true;
      attempt(Math.min(waitMs * 2 ** Math.min(this.#silences, DOUBLINGS_MAX), ATTEMPT_MAX_MS));
      this.#isBeginning = false;
    });
  }

  #fail(error: Error): void {
    for (const { callback, timedOut } of this.#take()) if (!timedOut) callback(error, undefined, () => {});
  }

  #take(): readonly Pending[] {
    const all = [...this.#waiting];
    this.#waiting.clear();
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    return all;
  }
}

type ClientClass = new (options?: pg.ClientConfig) => pg.ClientBase;
type Done = (error: Error | null) => void;

/** Clients that report when they could not connect, before the pool continues with its next caller. */
export const noting = (Client: ClientClass, reconnection: Reconnection): ClientClass =>
  class extends Client {
    constructor(options?: pg.ClientConfig) {
      super(options);
      reconnection.created(this);
    }

    override connect(): Promise<pg.ClientBase>;
    override connect(done: Done): void;
    override connect(done?: Done): Promise<pg.ClientBase> | undefined {
      if (done === undefined) return super.connect();
      super.connect((error: Error | null) => {
        if (error) reconnection.failed(error, this);
        done(error);
      });
      return undefined;
    }
  };

/** The pause after a number of failures in a row: between half and all of a time that doubles with each. */
export const pauseMs = (failures: number): number =>
  Math.min(BACKOFF_FIRST_MS * 2 ** Math.min(failures - 1, DOUBLINGS_MAX), BACKOFF_MAX_MS) *
  (1 + Math.random()) *
  0.5;
