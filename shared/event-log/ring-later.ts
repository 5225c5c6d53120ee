const RING_AT_MOST_EVERY_MS = 4;

/**
 * Wakes the followers after an append: in the next turn of the event loop, so that writers get their
 * responses first, and at most every few milliseconds, because waking all followers costs more than an
 * append.
 */
export const ringLater = (wake: () => void): (() => void) => {
  let isResting = false;
  let isDue = false;
  const ring = (): void => {
    isDue = false;
    wake();
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
