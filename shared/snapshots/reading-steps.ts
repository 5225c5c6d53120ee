import { SNAPSHOT_EVERY_EVENTS } from './snapshots.ts';

/** A stream of no more events is read without looking for a snapshot. */
const SHORT_EVENTS = 128;

/**
 * How many events to read next, so that little is read in vain of a short stream and after a snapshot, and a
 * long one takes few reads.
 */
export const readingSteps = () => {
  let [count, short] = [0, 1];
  return {
    get count() {
      return count;
    },
    next(): number {
      count += 1;
      short -= 1;
      return short >= 0 ? SHORT_EVENTS : SNAPSHOT_EVERY_EVENTS;
    },
    /** To a snapshot, after which the next ought not to be far. */
    jump(): void {
      short = SNAPSHOT_EVERY_EVENTS / SHORT_EVENTS;
    },
  };
};
