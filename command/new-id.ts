import { randomInt } from 'node:crypto';
import { EPOCH_MS, PER_MS } from '#shared/id-time.ts';

/**
 * Makes ids without coordination: positive safe integers that rise in one process, and with time between
 * processes. Two processes may make the same one. Creating its stream then fails, and the next id is tried.
 */
export const createIdMaker = (now: () => number = Date.now): (() => number) => {
  let ms = 0;
  let next = PER_MS;
  return () => {
    const current = Math.max(now() - EPOCH_MS, 1);
    // Where all ids of a millisecond are made, or the clock went back, the next millisecond lends its own.
    if (current > ms || next === PER_MS) {
      ms = Math.max(current, ms + 1);
      // Each process starts somewhere else within the millisecond, so that two of them seldom meet.
      next = randomInt(PER_MS / 2);
    }
    const id = ms * PER_MS + next;
    next += 1;
    return id;
  };
};
