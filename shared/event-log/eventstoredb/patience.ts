import { setTimeout as delay } from 'node:timers/promises';
import { LogUnavailable } from '../errors.ts';
import { failureOf } from './failures.ts';

const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 500;

/** A leader that was deposed while it was frozen goes on as leader for as long as 3 s. */
export const LATE_MS = 4_000;

export type Patience = {
  readonly what: string;
  readonly patienceMs: number;
  /** With less time left no other try is begun. */
  readonly leastMs?: number;
  /** Since when patience is had, when that was before now. */
  readonly startedAtMs?: number;
  /** How the first try failed, when it was made already. */
  readonly firstFailure?: unknown;
};

/** Tries again what may pass, for so long and no longer. Each try is told how much time is left. */
export const withPatience = async <Result>(
  { what, patienceMs, leastMs = 0, startedAtMs = performance.now(), firstFailure }: Patience,
  attempt: (leftMs: number) => Promise<Result>,
): Promise<Result> => {
  const leftMs = () => startedAtMs + patienceMs - performance.now();
  let failure = firstFailure;
  let backoffMs = BACKOFF_FIRST_MS;
  for (;;) {
    if (failure !== undefined) {
      if (failureOf(failure) !== 'passing') throw failure;
      if (leftMs() <= backoffMs + leastMs)
        throw new LogUnavailable(`EventStoreDB did not answer ${what} within ${patienceMs} ms`, {
          cause: failure,
        });
      await delay(backoffMs);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
    }
    try {
      return await attempt(leftMs());
    } catch (error) {
      failure = error;
    }
  }
};
