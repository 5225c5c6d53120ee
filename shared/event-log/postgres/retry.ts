import type { Clock } from '#shared/clock/clock.ts';
import { isPassing } from '#shared/database/failures.ts';
import { LogUnavailable } from '../errors.ts';
import { REQUEST_BUDGET_MS, retryBudgetOf } from '../request-deadline.ts';

/** The retry budget while the server is unreachable. */
export const RETRY_BUDGET_MS = REQUEST_BUDGET_MS;
const BACKOFF_FIRST_MS = 20;
const BACKOFF_MAX_MS = 500;

/** Retries a query while the server is unreachable: a restart takes a moment, and a query can be repeated. */
export const withRetries = async <Answer>(ask: () => Promise<Answer>, clock: Clock): Promise<Answer> => {
  const expiresAtMs = clock.elapsedMs() + retryBudgetOf(RETRY_BUDGET_MS);
  for (let backoffMs = BACKOFF_FIRST_MS; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (clock.elapsedMs() > expiresAtMs)
        throw new LogUnavailable(`the event log has been unreachable for ${RETRY_BUDGET_MS} ms`, {
          cause: error,
        });
      await clock.sleep(backoffMs);
    }
  }
};
