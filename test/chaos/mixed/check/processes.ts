import type { History, ProcessEnd } from '../history.ts';
import type { Violation } from './violation.ts';

/** Ten times what a process has when it has just started would be no bound at all; this is three times. */
const MEMORY_BYTES_MAX = 640 * 1_048_576;

/** I6: no process ends unless it was told to, and none needs more and more memory. */
export const processViolations = ({
  ends,
  memory,
}: Pick<History, 'ends' | 'memory'>): readonly Violation[] => {
  const largest = [...Map.groupBy(memory, ({ name }) => name)].map(([name, samples]) => ({
    name,
    bytes: Math.max(...samples.map(({ bytes }) => bytes)),
  }));
  return [
    ...ends.filter(isUnasked).map(({ name, code, said }) => `${name} ended by itself with ${code}: ${said}`),
    ...largest
      .filter(({ bytes }) => bytes > MEMORY_BYTES_MAX)
      .map(({ name, bytes }) => `${name} had ${Math.round(bytes / 1_048_576)} MiB`),
  ].map((what) => ({ invariant: 'I6', kind: 'other', what }));
};

/**
 * One that cannot start, because an engine is away, says so and ends with 1, and is started again by whoever
 * watches over it.
 */
const isUnasked = ({ isExpected, isDuringStart, code }: ProcessEnd): boolean =>
  !isExpected && !(isDuringStart && code === '1');
