import type { Clock } from '#shared/clock/clock.ts';

const NOTIFY_AT_MOST_EVERY_MS = 4;

/**
 * Wakes the followers after an append: in the next turn of the event loop, so that writers get their
 * responses first, and at most every few milliseconds, because waking all followers costs more than an
 * append.
 */
export const notifyLater = (wake: () => void, clock: Clock): (() => void) => {
  let isResting = false;
  let isDue = false;
  const notify = (): void => {
    isDue = false;
    wake();
    clock.after(NOTIFY_AT_MOST_EVERY_MS, rested);
  };
  const rested = (): void => {
    if (isDue) notify();
    else isResting = false;
  };
  return () => {
    if (isResting) isDue = true;
    else {
      isResting = true;
      setImmediate(notify);
    }
  };
};
