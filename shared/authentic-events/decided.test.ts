import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Batch, batchOf, Decided, type Decision, sortedDigests, unitedBatches } from './decided.ts';

const digestOf = (n: number): string => hash('sha256', String(n));

const decidedBy = (
  ...decisions: readonly (readonly [n: number, is: Decision, about: readonly number[]])[]
) => {
  const contents = new Map<string, Buffer>();
  let batches: readonly Batch[] = [];
  for (const [n, is, about] of decisions) {
    const digests = sortedDigests(about.map(digestOf));
    const batch = batchOf(digests, { n, is });
    contents.set(batch.sha256, digests);
    batches = unitedBatches(batches, [batch]);
  }
  return new Decided(batches, contents);
};

test('each event of a decision is found, and no other', () => {
  for (const count of [1, 2, 3, 1_000]) {
    const about = Array.from({ length: count }, (_, at) => at);
    const decided = decidedBy([1, 'accepted', about]);
    expect(about.every((n) => decided.about(digestOf(n)) === 'accepted')).toBe(true);
    expect(decided.about(digestOf(count))).toBeUndefined();
  }
});

test('of two decisions about an event the later one counts, and a rejection if none is later', () => {
  expect(decidedBy([1, 'rejected', [7]], [2, 'accepted', [7, 8]]).about(digestOf(7))).toBe('accepted');
  expect(decidedBy([3, 'rejected', [7]], [2, 'accepted', [7, 8]]).about(digestOf(7))).toBe('rejected');
  for (const accepted of ['accepted', 'accepted, chained as foreign'] as const)
    expect(decidedBy([2, accepted, [7, 8]], [2, 'rejected', [7]]).about(digestOf(7))).toBe('rejected');
});

test('two statements are united in the same way by every process', () => {
  const [one, other] = [
    decidedBy([1, 'accepted', [1]], [2, 'rejected', [2]]),
    decidedBy([2, 'accepted', [3]]),
  ];
  const united = unitedBatches(one.batches, other.batches);
  expect(united).toHaveLength(3);
  expect(unitedBatches(other.batches, one.batches)).toEqual(united);
  expect(unitedBatches(united, united)).toEqual(united);
});

test('an event is named once in a decision', () => {
  expect(sortedDigests([digestOf(1), digestOf(2), digestOf(1)])).toHaveLength(64);
});

test('without its events, a rejection does not let an earlier acceptance count', () => {
  const { batches } = decidedBy([1, 'accepted', [7, 8]], [2, 'rejected', [7]], [3, 'accepted', [9]]);
  const contents = new Map(
    [[7, 8], [9]].map((about) => {
      const digests = sortedDigests(about.map(digestOf));
      return [batchOf(digests, { n: 1, is: 'accepted' }).sha256, digests];
    }),
  );
  const decided = new Decided(batches, contents);
  expect([7, 8, 9].map((n) => decided.about(digestOf(n)))).toEqual([undefined, undefined, 'accepted']);
});
