import type pg from 'pg';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { isPassing } from './failures.ts';
import type { Pool } from './pool.ts';
import { prepared } from './prepared.ts';

/** How often the conditions are asked for. */
export const EVERY_MS = 1_000;

type Wait = {
  /** An SQL expression, which an index answers at once. Times and numbers, which change, are in the values. */
  readonly until: string;
  /** The values of `$1`, `$2` and so on, with their types where they are used. */
  readonly values?: readonly unknown[];
  readonly clock: Clock;
  /** Longer than the interval: the caller looks for itself then, whatever the condition. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called with the time of each question to which the answer was no. */
  onNo?(askedAtMs: number): void;
};

type Condition = { readonly until: string; readonly values: readonly unknown[] };
type Waiting = Condition & Pick<Wait, 'onNo'> & { wake(): void };

/**
 * Work that waits in tables. Instead of a statement of its own for each kind of work, one statement a second
 * asks whether there is any, for everything in a process that waits. If a condition fails, its waiters look for
 * themselves; while one has no answer, such as behind a lock of its table, all do.
 */
class Pulse {
  readonly #pool: Pool;
  readonly #waiting = new Set<Waiting>();
  #isBeating = false;
  /** The text of the latest statement. */
  #latest = '';

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Waits until the condition holds, for the timeout, or for the signal. Returns whether it holds or fails. */
  async wait({ until, values = [], onNo, clock, timeoutMs, signal }: Wait): Promise<boolean> {
    if (signal.aborted) return false;
    const woken = new AbortController();
    const waiting: Waiting = { until, values, ...(onNo && { onNo }), wake: () => woken.abort() };
    this.#waiting.add(waiting);
    if (!this.#isBeating) void this.#beat(clock);
    await clock.sleep(timeoutMs, AbortSignal.any([signal, woken.signal]));
    this.#waiting.delete(waiting);
    return woken.signal.aborted;
  }

  async #beat(clock: Clock): Promise<void> {
    this.#isBeating = true;
    for (;;) {
      await clock.sleep(EVERY_MS, undefined, { ref: false });
      if (this.#waiting.size === 0) break;
      const asked = [...this.#waiting];
      const conditions = [...new Map(asked.map((each) => [keyOf(each), each])).values()].toSorted(byText);
      const askedAtMs = clock.elapsedMs();
      const holding = new Set((await this.#inTime(this.#holding(conditions))).map(keyOf));
      for (const waiting of asked) {
        if (holding.has(keyOf(waiting))) waiting.wake();
        // One that was woken before the answer has looked for itself later than this was asked.
        else if (this.#waiting.has(waiting)) waiting.onNo?.(askedAtMs);
      }
    }
    this.#isBeating = false;
  }

  /** Wakes everybody each second until there is an answer. In real time, in which the server answers. */
  async #inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    using _waking = REAL_TIME.every(EVERY_MS, () => {
      for (const { wake } of this.#waiting) wake();
    });
    return await answer;
  }

  /** The conditions that hold or fail. */
  async #holding(conditions: readonly Condition[]): Promise<readonly Condition[]> {
    try {
      return await this.#ask(conditions);
    } catch (error) {
      if (conditions.length === 1 || isPassing(error)) return conditions;
    }
    // One of them is at fault, for example because its table is missing.
    const holding: Condition[] = [];
    for (const condition of conditions) holding.push(...(await this.#holding([condition])));
    return holding;
  }

  /** Prepared only if the same is asked again, because it changes with who waits. */
  async #ask(conditions: readonly Condition[]): Promise<readonly Condition[]> {
    const values: unknown[] = [];
    const columns = conditions.map(({ until, values: own }, index) => {
      const before = values.length;
      values.push(...own);
      return `(${until.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + before}`)}) as "${index}"`;
    });
    const text = `select ${columns.join(', ')}`;
    const isRepeated = text === this.#latest;
    this.#latest = text;
    const statement = isRepeated ? prepared(text, values) : { text, values };
    const { rows } = await this.#pool.query<Record<string, boolean>>(statement as pg.QueryConfig);
    return conditions.filter((_, index) => rows[0]?.[index]);
  }
}

const keyOf = ({ until, values }: Condition): string => JSON.stringify([until, values]);

/** A waiter that comes again is the last, but makes no other text: connections keep each one that is prepared. */
const byText = ({ until: one }: Condition, { until: other }: Condition): number =>
  one === other ? 0 : one < other ? -1 : 1;

/** One for the process, because its roles share a pool. */
export const pulseOf = oncePer((pool: Pool) => new Pulse(pool));
