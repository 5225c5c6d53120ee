import type { CheckpointMove, History } from '../history.ts';
import type { Violation } from './violation.ts';

/** Followers that announce what can be read, so they must never be ahead of the read model. */
const BEHIND_THE_READ_MODEL = new Set(['publisher', 'webhook-planner']);

/**
 * I5: each move of a checkpoint begins where the previous one ended, and goes forward, but not beyond the
 * log.
 */
export const checkpointViolations = ({
  moves,
  log,
}: Pick<History, 'moves' | 'log'>): readonly Violation[] => {
  const head = log.at(-1)?.position ?? 0;
  const reached = new Map<string, number>();
  return moves.flatMap((move): readonly Violation[] => {
    const was = reached.get(move.follower);
    reached.set(move.follower, move.to);
    return [...moveFaults(move, was), ...limitFaults(move, head)].map(([kind, what]) => ({
      ...{ invariant: 'I5', kind },
      what: `${move.follower} from ${move.from} to ${move.to}: ${what}`,
    }));
  });
};

type Fault = readonly [kind: Violation['kind'], what: string];

const moveFaults = ({ from, to }: CheckpointMove, was: number | undefined): readonly Fault[] => {
  if (from !== null && to < from) return [['duplicated', 'it goes back']];
  if (from === (was ?? null)) return [];
  return [
    [
      (from ?? 0) > (was ?? 0) ? 'lost' : 'duplicated',
      was === undefined ? 'it was nowhere' : `it was at ${was}`,
    ],
  ];
};

const limitFaults = ({ follower, to, projected }: CheckpointMove, head: number): readonly Fault[] => {
  if (to > head) return [['other', `the log ends at ${head}`]];
  const isAhead = BEHIND_THE_READ_MODEL.has(follower) && to > (projected ?? 0);
  return isAhead ? [['other', `the read model was at ${projected}`]] : [];
};
