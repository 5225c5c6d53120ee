import { setTimeout as delay } from 'node:timers/promises';
import { LogUnavailable } from '../errors.ts';
import { failureOf } from './failures.ts';

const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 500;

export type Attempt = {
  /** Whether this was tried before, with an outcome that is not known. */
  readonly isRepeat: boolean;
  readonly leftMs: number;
};

/** Tries again what may pass, for so long and no longer. */
export const withPatience = async <Result>(
  { what, patienceMs }: { what: string; patienceMs: number },
  attempt: (attempt: Attempt) => Promise<Result>,
): Promise<Result> => {
  const expiresAtMs = Date.now() + patienceMs;
  let backoffMs = BACKOFF_FIRST_MS;
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await attempt({ isRepeat, leftMs: expiresAtMs - Date.now() });
    } catch (error) {
      if (failureOf(error) !== 'passing') throw error;
      if (Date.now() + backoffMs >= expiresAtMs)
        throw new LogUnavailable(`EventStoreDB did not answer ${what} within ${patienceMs} ms`, { cause: error });
    }
    await delay(backoffMs);
    backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
  }
};
