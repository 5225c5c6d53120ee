import type { Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';

/** Less than the timeout of a check of `/readyz`. */
const ANSWER_MAX_MS = 1_000;

type Checking = {
  head(): Promise<Position>;
  readonly clock: Clock;
  readonly retryBudgetMs: number;
};

/**
 * Returns a function that rejects once reads have failed for longer than their retry budget: requests wait as
 * long, and an election is over sooner. A process that is not ready meanwhile would get none.
 */
export const createReadCheck = ({ head, clock, retryBudgetMs }: Checking): (() => Promise<void>) => {
  let failingSinceMs: number | undefined;
  let failure: unknown;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const startedAtMs = clock.elapsedMs();
    using _slow = clock.after(ANSWER_MAX_MS, () => {
      failingSinceMs ??= startedAtMs;
      failure ??= new LogUnavailable(`EventStoreDB has not answered a read for ${ANSWER_MAX_MS} ms`);
    });
    try {
      await head();
      failingSinceMs = undefined;
      failure = undefined;
    } catch (error) {
      failingSinceMs ??= startedAtMs;
      failure = error;
    } finally {
      reading = undefined;
    }
  };
  return async () => {
    reading ??= read();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    using _timer = clock.after(ANSWER_MAX_MS, resolve);
    await Promise.race([reading, late]);
    if (failingSinceMs !== undefined && clock.elapsedMs() - failingSinceMs > retryBudgetMs) throw failure;
  };
};
