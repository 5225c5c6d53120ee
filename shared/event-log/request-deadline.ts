import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '#shared/clock/clock.ts';

/** The retry budget of the log for one request, and for anything else that it is asked outside of one. */
export const REQUEST_BUDGET_MS = 10_000;

const deadlines = new AsyncLocalStorage<{ leftMs(): number }>();

/**
 * Everything that the log is asked within this work shares one retry budget. A request reads, appends and
 * claims, one after the other, and its client waits for all of it.
 */
export const shareRetryBudget = <Result>(
  clock: Pick<Clock, 'elapsedMs'>,
  work: () => Promise<Result>,
  budgetMs: number = REQUEST_BUDGET_MS,
): Promise<Result> => {
  const expiresAtMs = clock.elapsedMs() + budgetMs;
  return deadlines.run({ leftMs: () => expiresAtMs - clock.elapsedMs() }, work);
};

/** Whether something else has used up a part of the budget, or will. */
export const isInRequest = (): boolean => Number.isFinite(retryBudgetOf(Number.POSITIVE_INFINITY));

/** The rest of a retry budget, within the request that asks. */
export const retryBudgetOf = (budgetMs: number): number => {
  const leftMs = deadlines.getStore()?.leftMs() ?? Number.POSITIVE_INFINITY;
  // Work that a request has begun, and that goes on long after it, has budgets of its own.
  return leftMs < -REQUEST_BUDGET_MS ? budgetMs : Math.min(budgetMs, leftMs);
};
