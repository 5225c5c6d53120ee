import type { History, Read, State, Write } from '../history.ts';
import type { Invariant, Violation } from './violation.ts';

/** A deleted item counts as later than every version. */
const rankOf = (state: State): number => (state === 'gone' ? Number.POSITIVE_INFINITY : state);

/**
 * Checks read-your-writes, where requested, and monotonic reads; for one client, which sends one request
 * after the other.
 */
export const readViolations = ({
  writes,
  reads,
}: Pick<History, 'writes' | 'reads'>): readonly Violation[] => {
  const done = Map.groupBy(
    writes.filter(({ outcome }) => outcome !== 'refused'),
    keyOf,
  );
  return [...Map.groupBy(reads, keyOf)].flatMap(([key, same]) => {
    const inOrder = same.toSorted((one, other) => one.startMs - other.startMs);
    return [...ownViolations(done.get(key) ?? [], inOrder), ...monotonicViolations(inOrder)];
  });
};

const keyOf = ({ client, target }: Read | Write): string => `${client} ${target}`;

const stale = (invariant: Invariant, { client, target, found }: Read, least: State): Violation => ({
  ...{ invariant, kind: 'stale' },
  what: `${client} found ${target} at ${found}, not at ${least} or later`,
});

const ownViolations = (writes: readonly Write[], reads: readonly Read[]): readonly Violation[] =>
  reads
    .filter(({ isConsistent }) => isConsistent)
    .flatMap((read) => {
      const last = writes
        .filter(
          ({ outcome, endMs, isVisible }) => outcome === 'acknowledged' && isVisible && endMs <= read.startMs,
        )
        .toSorted((one, other) => rankOf(one.state) - rankOf(other.state))
        .at(-1);
      if (last === undefined) return [];
      // Nobody else deletes its items.
      const isLost =
        read.found === 'gone' &&
        !writes.some(({ leaves }) => Object.keys(leaves).some((type) => type.endsWith('.deleted')));
      return isLost || rankOf(read.found) < rankOf(last.state)
        ? [stale('read your writes', read, last.state)]
        : [];
    });

const monotonicViolations = (reads: readonly Read[]): readonly Violation[] =>
  reads.flatMap((read, place) => {
    const before = reads[place - 1];
    return before !== undefined && rankOf(read.found) < rankOf(before.found)
      ? [stale('monotonic reads', read, before.found)]
      : [];
  });
