import { isDeepStrictEqual } from 'node:util';
import type { Decision, Statement } from './statement.ts';

/**
 * What two statements about a log say together. Since when events need a MAC is only ever said more strictly, so no
 * statement of a process that did not know the other one takes that back. Of two decisions about an event, that of
 * the higher number counts.
 */
export const combined = (one: Statement, other: Statement): Statement => {
  const [lower, higher] = one.n < other.n ? [one, other] : [other, one];
  return {
    ...higher,
    since: one.since < other.since ? one.since : other.since,
    epochs: strictness(lower) < strictness(higher) ? lower.epochs : higher.epochs,
    decided: decidedBy(lower, higher),
  };
};

export const isSame = (one: Statement | undefined, other: Statement): boolean =>
  isDeepStrictEqual(one, other);

/** The position after which events need a MAC. */
const strictness = ({ epochs }: Statement): number => Math.min(...epochs.map(({ from }) => from));

const decidedBy = (lower: Statement, higher: Statement): Statement['decided'] => {
  const decided = { ...lower.decided, ...higher.decided };
  if (lower.n < higher.n) return decided;
  for (const [id, decision] of Object.entries(lower.decided))
    if (order(decision) > order(decided[id] ?? decision)) decided[id] = decision;
  return decided;
};

/** Of two decisions with the same number, every process takes the same one, and a rejection before the others. */
const order = ({ is, digest }: Decision): string => `${is} ${digest}`;
