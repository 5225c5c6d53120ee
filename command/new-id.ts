import { randomInt } from 'node:crypto';
import { EPOCH_MS, idStepOf, PER_MS } from '#shared/id-time.ts';

/**
 * Creates ids without coordination: positive safe integers that increase within a process, and with time
 * across processes. Two processes may create the same id; then the creation of the stream fails, and the next
 * id is tried. With different numbers, this function never creates the same id in two cells, so that streams
 * can be copied between them. Reactions derive their ids from events instead, without the number.
 */
export const createIdMaker = (now: () => number, cell?: number): (() => number) => {
  const step = idStepOf(cell);
  const perMs = PER_MS / step;
  let ms = 0;
  let next = perMs;
  return () => {
    const current = Math.max(now() - EPOCH_MS, 1);
    // If a millisecond’s ids are used up, or the clock went back, ids of the next millisecond are used.
    if (current > ms || next === perMs) {
      ms = Math.max(current, ms + 1);
      // Each process starts at a random offset within the millisecond, so that collisions are rare.
      next = randomInt(perMs / 2);
    }
    const id = ms * PER_MS + next * step + (cell ?? 0);
    next += 1;
    return id;
  };
};
