import type { PostgresBell } from '#shared/database/bell/bell.ts';

const RING_AT_MOST_EVERY_MS = 4;

/**
 * Rings for what was appended once those who wait for it have been answered, and then at most every few milliseconds: a ring sets
 * every follower to work, which costs more than an append.
 */
export const ringLater = (bell: Pick<PostgresBell, 'ringEverywhere'>): (() => void) => {
  let isResting = false;
  let isDue = false;
  const ring = (): void => {
    isDue = false;
    bell.ringEverywhere();
    setTimeout(rested, RING_AT_MOST_EVERY_MS);
  };
  const rested = (): void => {
    if (isDue) ring();
    else isResting = false;
  };
  return () => {
    if (isResting) isDue = true;
    else {
      isResting = true;
      setImmediate(ring);
    }
  };
};
