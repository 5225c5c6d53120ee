import { setTimeout as delay } from 'node:timers/promises';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { retryBudgetOf } from '#shared/event-log/request-deadline.ts';
import { failureOf } from './failures.ts';

const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 500;

/** A leader that was deposed while it was frozen continues as leader for up to 3 s. */
export const LATE_MS = 4_000;

type RetryOptions = {
  readonly what: string;
  readonly retryBudgetMs: number;
  /** With less time left no further attempt begins. */
  readonly leastMs?: number;
  /** The start of the retry budget, if it was before now. */
  readonly startedAtMs?: number;
  /** The failure of the first attempt, if it was made already. */
  readonly firstFailure?: unknown;
};

/** Retries passing failures until the retry budget is used up. Each attempt gets the time left. */
export const withRetries = async <Result>(
  { what, retryBudgetMs, leastMs = 0, startedAtMs = performance.now(), firstFailure }: RetryOptions,
  attempt: (leftMs: number) => Promise<Result>,
): Promise<Result> => {
  const expiresAtMs = Math.min(startedAtMs + retryBudgetMs, performance.now() + retryBudgetOf(retryBudgetMs));
  const leftMs = () => expiresAtMs - performance.now();
  let failure = firstFailure;
  let backoffMs = BACKOFF_FIRST_MS;
  for (;;) {
    if (failure !== undefined) {
      if (failureOf(failure) !== 'passing') throw failure;
      // Jitter, because an outage fails all callers at the same moment.
      const pauseMs = backoffMs * (1 - Math.random() / 2);
      const isLate = leftMs() <= pauseMs + leastMs;
      if (!isLate) await delay(pauseMs);
      // The timer may have been late.
      if (isLate || leftMs() <= leastMs)
        throw new LogUnavailable(
          `EventStoreDB did not answer ${what} within ${retryBudgetMs} ms (${messageOf(failure)})`,
          {
            cause: failure,
          },
        );
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
    }
    try {
      return await attempt(leftMs());
    } catch (error) {
      failure = error;
    }
  }
};

/** Unless the client says nothing. */
const messageOf = (failure: unknown): string =>
  failure instanceof Error ? failure.message || failure.name : String(failure);
