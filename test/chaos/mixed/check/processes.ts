import type { History, ProcessEnd } from '../history.ts';
import type { Violation } from './violation.ts';

/** About three times the memory of a process that has just started. */
const MEMORY_BYTES_MAX = 640 * 1_048_576;

/** I6: no process ends unasked, and memory does not grow without bound. */
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
 * A process that cannot start without an engine says so, exits with 1, and is restarted by its supervisor.
 */
const isUnasked = ({ isExpected, isDuringStart, code }: ProcessEnd): boolean =>
  !isExpected && !(isDuringStart && code === '1');
