import { expect, test } from 'vitest';
import { weigh } from './weigh.ts';

test('a thousand items have weight, even if they contain little', () => {
  const weightOf = (items: number) =>
    weigh({ status: 'present', fields: { items: Array.from({ length: items }, (_, id) => ({ id })) } });
  expect(weightOf(1_000) - weightOf(0)).toBe(64_000);
});
