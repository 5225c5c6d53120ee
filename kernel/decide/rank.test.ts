import fc from 'fast-check';
import { expect, test } from 'vitest';
import { between, RANK, RANK_CHARACTERS_MAX, spread } from './rank.ts';

test('ranks stay in order and valid for any sequence of insertions', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 120 }), (places) => {
      const ranks: string[] = [];
      for (const place of places) {
        const index = place % (ranks.length + 1);
        ranks.splice(index, 0, between(ranks[index - 1], ranks[index]));
      }
      expect(ranks.toSorted()).toEqual(ranks);
      expect(new Set(ranks).size).toBe(ranks.length);
      for (const rank of ranks) expect(rank).toMatch(RANK);
    }),
  );
});

test('repeated insertion at the start or end keeps ranks short', () => {
  let [first, last] = [between(undefined, undefined), between(undefined, undefined)];
  for (let count = 0; count < 20_000; count += 1) {
    const [before, after] = [between(undefined, first), between(last, undefined)];
    expect([before < first, after > last]).toEqual([true, true]);
    [first, last] = [before, after];
  }
  expect(Math.max(first.length, last.length)).toBeLessThanOrEqual(4);
});

test('there is no rank between two that are out of order', () => {
  for (const [after, before] of [
    ['a0V', 'a0V'],
    ['a0', 'a0'],
    ['a0W', 'a0V'],
  ] as const)
    expect(() => between(after, before), `${after} ${before}`).toThrow('no rank between');
});

test('repeated insertion between the same two makes ranks long, and spreading shortens them', () => {
  let [low, high] = ['a0', 'a1'];
  for (let count = 0; count < 300; count += 1) {
    const rank = between(low, high);
    if (count % 2 === 0) low = rank;
    else high = rank;
  }
  expect(low < high).toBe(true);
  expect(low.length).toBeGreaterThan(RANK_CHARACTERS_MAX);
  const many = spread(1_000);
  expect(many.toSorted()).toEqual(many);
  expect(Math.max(...many.map(({ length }) => length))).toBeLessThanOrEqual(3);
});
