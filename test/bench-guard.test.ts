import { expect, test } from 'vitest';
import { compare, recordOf } from '../bench/guard.ts';

const recorded = { median: 1, low: 0.95, high: 1.05 };

test.each([
  ['within the noise', [0.95, 0.9, 1], 'same'],
  ['far below', [0.7, 0.69, 0.71], 'worse'],
  ['far above', [1.4, 1.39, 1.41], 'better'],
  ['far below, with rounds that differ as much', [0.7, 0.5, 0.9], 'same'],
] as const)('a figure %s of what is recorded', (_, rounds, verdict) => {
  expect(compare({ it: recorded }, [{ name: 'it', rounds }])).toMatchObject([{ name: 'it', verdict }]);
});

test('a figure that is no longer measured, and one that is not recorded yet, are reported', () => {
  expect(compare({ gone: recorded }, [{ name: 'fresh', rounds: [1] }])).toMatchObject([
    { name: 'fresh', verdict: 'new' },
    { name: 'gone', verdict: 'not measured' },
  ]);
});

test('the difference between runs is added to the recorded spread', () => {
  const figures = [{ name: 'it', rounds: [1.2, 1.21, 1.19] }];
  expect(recordOf(figures, { it: recorded }, false)).toEqual({ it: { median: 1.2, low: 1.19, high: 1.21 } });
  expect(recordOf(figures, { it: recorded }, true)).toMatchObject({ it: { low: 0.95, high: 1.21 } });
});
