import { SNAPSHOT_EVERY_EVENTS } from './snapshots.ts';

/** A stream of no more events is read without a search for a snapshot. */
const SHORT_EVENTS = 128;

/** The number of events to read next: few in a short stream and after a snapshot, many in a long one. */
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
    /** After a jump to a snapshot, the next one should be near. */
    jump(): void {
      short = SNAPSHOT_EVERY_EVENTS / SHORT_EVENTS;
    },
  };
};
