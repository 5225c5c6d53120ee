import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { appendEntries } from './append.ts';
import { countersIn } from './counters.ts';
import { entryOf, missingEntry, type ReadBy, type ReadEntry } from './entry.ts';
import { startExpiring } from './expire.ts';
import { migrateReadLog } from './migrate.ts';
import type { Notes } from './notes.ts';

/** Records what answers show. */
export type ReadLog = AsyncDisposable & {
  /**
   * Records what was noted, and forgets the notes. Returns a promise if the answer must wait for it: then it may be
   * sent only if the promise is fulfilled.
   */
  record(notes: Notes, by: ReadBy): Promise<void> | undefined;
};

export type ReadLogOptions = {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  /** Older entries are removed; undefined keeps all. */
  readonly keepDays?: number | undefined;
};

/** The maximum of entries of one batch, and of those that wait. */
const BATCH_MAX = 500;
const WAITING_MAX = 20_000;
const RETRY_MS = 500;
/** An answer that must be recorded first waits for that long. */
const WAIT_MAX_MS = 5_000;
/** On shutdown, an unresponsive database is not waited for. */
const LAST_MAX_MS = 2_000;

type Waiting = {
  readonly entry: ReadEntry;
  /** Undefined if its answer has not waited. */
  readonly done: PromiseWithResolvers<void> | undefined;
};

/** Opens the log of reads for writing. Entries that come while a batch is written make the next one. */
export const openReadLog = async (options: ReadLogOptions): Promise<ReadLog> => {
  const { pool, clock, log, keepDays } = options;
  await migrateReadLog(pool);
  const expiring = keepDays === undefined ? undefined : startExpiring({ pool, clock, log, keepDays });
  const writer = new Writer(options);
  return {
    record(notes, by) {
      if (notes.isEmpty) return undefined;
      const all = notes.take();
      const waits = by.isAuditor === true || all.some(({ kind }) => kind.reads?.ifUnwritable === 'refuse');
      const at = isoNow(clock);
      const written = all.map((noted) => writer.add(entryOf(by, at, noted), waits));
      return waits ? inTime(Promise.all(written), clock) : undefined;
    },
    async [Symbol.asyncDispose]() {
      await expiring?.[Symbol.asyncDispose]();
      await writer[Symbol.asyncDispose]();
    },
  };
};

/** Appends entries in batches, one batch at a time. */
class Writer implements AsyncDisposable {
  readonly #options: ReadLogOptions;
  readonly #counters: ReturnType<typeof countersIn>;
  readonly #id = randomUUID();
  readonly #stopping = new AbortController();
  #waiting: Waiting[] = [];
  /** Repeated with the same number until it is written. */
  #batch: readonly Waiting[] = [];
  #batches = 0;
  #missing = 0;
  #running: Promise<void> | undefined;

  constructor(options: ReadLogOptions) {
    this.#options = options;
    this.#counters = countersIn(options.metrics);
  }

  /** Returns a promise if the answer waits. */
  add(entry: ReadEntry, waits: boolean): Promise<void> | undefined {
    const done = waits ? Promise.withResolvers<void>() : undefined;
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push({ entry, done });
    else if (done !== undefined) done.reject(unwritable(new Error(`${WAITING_MAX} entries are waiting`)));
    else {
      this.#missing += 1;
      this.#counters.lost.inc();
    }
    this.#start();
    return done?.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { clock, log } = this.#options;
    this.#stopping.abort();
    if (this.#left > 0) this.#start();
    await Promise.race([this.#running, clock.sleep(LAST_MAX_MS, undefined, { ref: false })]);
    if (this.#left > 0)
      log.error({ left: this.#left }, 'The log of reads could not be written before the end of the process.');
  }

  get #left(): number {
    return this.#batch.length + this.#waiting.length + this.#missing;
  }

  #start(): void {
    // In the next turn, so that answers of this one share a batch.
    this.#running ??= new Promise<void>((resolve) => void setImmediate(resolve))
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined;
        if (this.#left > 0 && !this.#stopping.signal.aborted) this.#start();
      });
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    while (this.#left > 0) {
      try {
        await this.#append();
      } catch (error) {
        this.#refuse(error);
        log.error({ err: error, waiting: this.#left }, 'The log of reads cannot be written.');
        if (signal.aborted) return;
        await clock.sleep(RETRY_MS, signal);
      }
    }
  }

  async #append(): Promise<void> {
    if (this.#batch.length === 0) this.#nextBatch();
    const entries = this.#batch.map(({ entry }) => entry);
    await appendEntries(this.#options.pool, { writer: this.#id, number: this.#batches, entries });
    this.#counters.recorded.inc(entries.length);
    for (const { done } of this.#batch) done?.resolve();
    this.#batch = [];
  }

  #nextBatch(): void {
    const { clock } = this.#options;
    const gap =
      this.#missing === 0 ? [] : [{ entry: missingEntry(isoNow(clock), this.#missing), done: undefined }];
    this.#missing = 0;
    this.#batch = [...gap, ...this.#waiting.splice(0, BATCH_MAX)];
    this.#batches += 1;
  }

  /** Answers that wait are refused, and so show nothing that would have to be recorded. */
  #refuse(cause: unknown): void {
    for (const { done } of [...this.#batch, ...this.#waiting]) done?.reject(unwritable(cause));
    this.#batch = this.#batch.filter(({ done }) => done === undefined);
    this.#waiting = this.#waiting.filter(({ done }) => done === undefined);
  }
}

const isoNow = (clock: Clock): string => new Date(clock.nowMs()).toISOString();

const inTime = async (all: Promise<unknown>, clock: Clock): Promise<void> => {
  const late = Promise.withResolvers<never>();
  using _timer = clock.after(WAIT_MAX_MS, () =>
    late.reject(unwritable(new Error(`not written within ${WAIT_MAX_MS} ms`))),
  );
  await Promise.race([all, late.promise]);
};

const unwritable = (cause: unknown): HttpProblem =>
  new HttpProblem('unavailable', {
    detail: 'The log of reads cannot be written, and nothing is shown without an entry in it: retry later.',
    headers: { 'Retry-After': '1' },
    cause,
  });
