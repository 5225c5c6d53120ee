import { faultsOf } from '../../sequence.ts';
import type { Feed } from '../history.ts';
import type { Violation } from './violation.ts';

const KINDS: readonly (readonly [start: string, kind: Violation['kind']])[] = [
  ['lost', 'lost'],
  ['repeated', 'duplicated'],
  ['out of order', 'reordered'],
];

/** I4: a subscriber receives everything visible to it, once, in the order of the log. */
export const feedViolations = ({ name, expected, received }: Feed): readonly Violation[] =>
  faultsOf(expected, received).map((fault) => ({
    invariant: 'I4',
    kind: KINDS.find(([start]) => fault.startsWith(start))?.[1] ?? 'other',
    what: `${name}: ${fault}`,
  }));
