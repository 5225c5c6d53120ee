import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { History } from '../history.ts';
import { check } from './check.ts';
import { inFeed, swapped, twice, without } from './planting.ts';
import { rightHistory } from './right-history.ts';
import type { Invariant } from './violation.ts';

describe('any removed, repeated or moved record is found', () => {
  const articles = fc.integer({ min: 1, max: 12 });
  const anywhere = fc.nat();
  const damage = fc.constantFrom(without, twice, swapped) as fc.Arbitrary<
    <Each>(all: readonly Each[], place: number) => readonly Each[]
  >;

  test.each<
    [
      string,
      Invariant,
      (history: History, damaged: <Each>(all: readonly Each[]) => readonly Each[]) => Partial<History>,
    ]
  >([
    ['the log', 'I1', ({ log }, damaged) => ({ log: damaged(log) })],
    ['a feed', 'I4', (history, damaged) => inFeed(damaged)(history)],
    [
      'the moves of checkpoints',
      'I5',
      ({ moves }, damaged) => ({ moves: damaged(moves.filter(({ follower }) => follower === 'projector')) }),
    ],
  ])('in %s (%s)', (_name, invariant, plant) => {
    fc.assert(
      fc.property(articles, anywhere, damage, (count, somewhere, damaged) => {
        const history = rightHistory(count);
        const planted = plant(history, (all) => damaged(all, somewhere % Math.max(1, all.length - 2)));
        return check({ ...history, ...planted }).some((found) => found.invariant === invariant);
      }),
    );
  });
});
