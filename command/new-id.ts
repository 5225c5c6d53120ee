import { randomInt } from 'node:crypto';
import { EPOCH_MS, PER_MS } from '#shared/id-time.ts';

/**
 * Creates ids without coordination: positive safe integers that increase within a process, and with time
 * across processes. Two processes may create the same id; then the creation of the stream fails, and the next
 * id is tried.
 */
export const createIdMaker = (now: () => number = Date.now): (() => number) => {
  let ms = 0;
  let next = PER_MS;
  return () => {
    const current = Math.max(now() - EPOCH_MS, 1);
    // If a millisecond’s ids are used up, or the clock went back, ids of the next millisecond are used.
    if (current > ms || next === PER_MS) {
      ms = Math.max(current, ms + 1);
      // Each process starts at a random offset within the millisecond, so that collisions are rare.
      next = randomInt(PER_MS / 2);
    }
    const id = ms * PER_MS + next;
    next += 1;
    return id;
  };
};
