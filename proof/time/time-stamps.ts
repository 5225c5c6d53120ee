import type { LogIdentity } from '#kernel/base/brands.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import { recordDrift } from '#shared/clock-drift/drift.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { Counter, type Registry } from '#shared/prometheus.ts';
import { post } from '../cosign/post.ts';
import { parseNote } from '../tree/note.ts';
import { originOf, parseTreeHead } from '../tree/tree-head.ts';
import { gauge } from '../watch/gauge.ts';
import { checkTimeStamp } from './check-time-stamp.ts';
import { requestTimeStamp, tokenIn } from './time-stamp-request.ts';
import { readNewestStamp, saveStamp } from './time-stamp-rows.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: { readonly identity: LogIdentity };
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly url: string;
  readonly everyMs: number;
};

const TIMEOUT_MS = 10_000;
const BYTES_MAX = 65_536;
const RETRY_MIN_MS = 10_000;
const RETRY_MAX_MS = 900_000;
/** The clock of an authority that is further off than this is none. */
const SKEW_MAX_MS = 600_000;
/** Many authorities name whole seconds. */
const STAMP_PRECISION_MS = 1_000;

type Offered = { readonly size: number; readonly note: string; readonly isWitnessed: boolean };

/**
 * Has heads stamped with the time by an authority, the newest one each `everyMs` if it is new. Between heads nothing
 * runs, and nobody waits for the authority.
 */
export class TimeStamps {
  readonly #given: Dependencies;
  readonly #origin: string;
  readonly #failures: Counter;
  readonly #stopping = new AbortController();
  #newest: Offered | undefined;
  #stamped = 0;
  #nextAtMs = 0;
  #failed = 0;
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(given: Dependencies) {
    const { pool, eventLog, metrics } = given;
    this.#given = given;
    this.#origin = originOf(eventLog.identity);
    const name = 'annals_audit_time_stamp_failures_total';
    this.#failures = new Counter({ name, help: 'Failed requests for a time stamp.', registers: [metrics] });
    gauge(
      metrics,
      { name: 'annals_audit_stamped_events', help: 'Events covered by a head with a time stamp.' },
      async () => (await readNewestStamp(pool, this.#origin))?.size ?? 0,
    );
  }

  /** Keeps the pace of the process before. */
  static async open(given: Dependencies): Promise<TimeStamps> {
    const stamps = new TimeStamps(given);
    const newest = await readNewestStamp(given.pool, stamps.#origin);
    if (newest === undefined) return stamps;
    stamps.#stamped = newest.size;
    const agoMs = dateElsewhereMs(given.clock) - newest.at.getTime();
    stamps.#nextAtMs = given.clock.elapsedMs() + given.everyMs - Math.max(agoMs, 0);
    return stamps;
  }

  offer(note: string, isWitnessed: boolean): void {
    const { size = 0 } = parseTreeHead(parseNote(note)?.text ?? '') ?? {};
    if (size <= this.#stamped) return;
    this.#newest = { size, note, isWitnessed };
    if (!this.#isRunning) this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#given;
    const { signal } = this.#stopping;
    this.#isRunning = true;
    while (!signal.aborted && this.#newest !== undefined && this.#newest.size > this.#stamped) {
      const restMs = this.#nextAtMs - clock.elapsedMs();
      if (restMs > 0) await clock.sleep(restMs, signal);
      // A newer head may have come meanwhile.
      if (!signal.aborted) await this.#stamp(this.#newest).catch((error: unknown) => this.#fail(error));
    }
    this.#isRunning = false;
  }

  async #stamp(offered: Offered): Promise<void> {
    const { pool, url, clock, everyMs } = this.#given;
    const data = Buffer.from(offered.note);
    const { bytes, nonce } = requestTimeStamp(data);
    const begunMs = clock.elapsedMs();
    const { signal } = this.#stopping;
    const limits = { timeoutMs: TIMEOUT_MS, bytesMax: BYTES_MAX, signal };
    const { status, body } = await post(url, { type: 'application/timestamp-query', body: bytes, ...limits });
    if (status !== 200) throw new Error(`It answered ${status}.`);
    const token = tokenIn(body);
    if (typeof token === 'string') throw new Error(token);
    const checked = checkTimeStamp(token, data, undefined);
    if (typeof checked === 'string') throw new Error(checked);
    const uncertaintyMs = (clock.elapsedMs() - begunMs) / 2;
    if (checked.nonce?.equals(nonce) !== true) throw new Error('Its time stamp is for another request.');
    if (Math.abs(checked.at.getTime() - dateElsewhereMs(clock)) > SKEW_MAX_MS)
      throw new Error('Its clock differs from ours by more than ten minutes.');
    await this.#noteDrift(checked.at, uncertaintyMs);
    await saveStamp(pool, this.#origin, { ...offered, token, at: checked.at });
    this.#stamped = offered.size;
    this.#failed = 0;
    this.#nextAtMs = clock.elapsedMs() + everyMs;
  }

  /** The authority has its time from outside, which shows whether ours is right. */
  async #noteDrift(at: Date, uncertaintyMs: number): Promise<void> {
    const { pool, clock } = this.#given;
    const driftMs = dateElsewhereMs(clock) - uncertaintyMs - at.getTime();
    const measured = { driftMs, uncertaintyMs: uncertaintyMs + STAMP_PRECISION_MS };
    const drift = {
      ...measured,
      against: 'time stamps',
      role: 'annals-projector',
      source: undefined,
    } as const;
    // The stamp counts without it.
    await recordDrift(pool, drift).catch(() => {});
  }

  #fail(error: unknown): void {
    const { clock, log } = this.#given;
    this.#nextAtMs = clock.elapsedMs() + Math.min(RETRY_MIN_MS * 2 ** this.#failed, RETRY_MAX_MS);
    this.#failed += 1;
    if (this.#stopping.signal.aborted) return;
    this.#failures.inc();
    log.warn({ problem: (error as Error).message }, 'The head of the log has no time stamp yet.');
  }
}
