import { startDeadline } from './load.ts';

const LOOK_AGAIN_MS = 10;

/**
 * Repeats `look` until the condition holds; after the deadline, the error shows the last value. The deadline
 * is that of a quiet machine, scaled by its load.
 */
export const until = async <Seen>(
  look: () => Promise<Seen> | Seen,
  isIt: (seen: Seen) => boolean,
  deadlineMs = 15_000,
): Promise<Seen> => {
  const deadline = startDeadline(deadlineMs);
  for (;;) {
    const seen = await look();
    if (isIt(seen)) return seen;
    if (deadline.isOver())
      throw new Error(`not within ${deadline}; last seen: ${JSON.stringify(seen)?.slice(0, 500)}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
};
