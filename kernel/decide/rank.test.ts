import fc from 'fast-check';
import { expect, test } from 'vitest';
import { between, RANK, RANK_CHARACTERS_MAX, spread } from './rank.ts';

test('ranks stay in order and valid for any sequence of insertions', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 120 }), (places) => {
      const ranks: string[] = [];
      for (const place of places) {
        const index = place % (ranks.length + 1);
        ranks.splice(index, 0, between(ranks[index - 1], ranks[index]) ?? 'none');
      }
      expect(ranks.toSorted()).toEqual(ranks);
      expect(new Set(ranks).size).toBe(ranks.length);
      for (const rank of ranks) expect(rank).toMatch(RANK);
    }),
  );
});

test('repeated insertion at the start or end keeps ranks short', () => {
  let [first, last] = ['a0', 'a0'];
  for (let count = 0; count < 20_000; count += 1) {
    const [before = '', after = ''] = [between(undefined, first), between(last, undefined)];
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
    expect(between(after, before), `${after} ${before}`).toBeUndefined();
});

test('repeated insertion between the same two makes ranks long, and spreading shortens them', () => {
  let [low, high] = ['a0', 'a1'];
  for (let count = 0; count < 300; count += 1) {
    const rank = between(low, high) ?? '';
    if (count % 2 === 0) low = rank;
    else high = rank;
  }
  expect(low < high).toBe(true);
  expect(low.length).toBeGreaterThan(RANK_CHARACTERS_MAX);
  const many = spread(1_000);
  expect(many.toSorted()).toEqual(many);
  expect(Math.max(...many.map(({ length }) => length))).toBeLessThanOrEqual(3);
});

/** As imports and domain code may have them: any that events may have, near each other and near the ends. */
const given = fc
  .tuple(
    fc.constantFrom(...'ABYZabyz'),
    fc.array(fc.constantFrom(...'01Vyz'), { minLength: 1, maxLength: 30 }),
  )
  .map(([head, digits]) => head + digits.join(''));

test('between any two ranks that an event may have lies another, unless only zeros tell them apart', () => {
  fc.assert(
    fc.property(fc.option(given, { nil: undefined }), fc.option(given, { nil: undefined }), (one, other) => {
      const isSwapped = one !== undefined && other !== undefined && one > other;
      const [after, before] = isSwapped ? [other, one] : [one, other];
      const rank = between(after, before);
      const least = after ?? 'A';
      const isNone = before?.startsWith(least) === true && /^0*$/.test(before.slice(least.length));
      expect(rank === undefined, `${after} ${rank} ${before}`).toBe(isNone);
      if (rank === undefined) return;
      expect(rank).toMatch(/^[A-Za-z][0-9A-Za-z]+$/);
      expect([rank > (after ?? ''), before === undefined || rank < before]).toEqual([true, true]);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['zz', undefined, 'zzV'],
  [undefined, 'b0', 'NV'],
  ['b0', 'b01', 'b00V'],
])('a rank between %s and %s, whose integers lack digits, is valid', (after, before, rank) => {
  expect(between(after, before)).toBe(rank);
  expect(rank).toMatch(RANK);
});
