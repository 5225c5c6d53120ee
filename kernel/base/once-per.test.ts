import { expect, test, vi } from 'vitest';
import { oncePer } from './once-per.ts';

test('computes once for each key, falsy values included', () => {
  const compute = vi.fn(({ at }: { readonly at: number | null }) => at);
  const atOf = oncePer(compute);
  const keys = [{ at: 0 }, { at: null }, { at: 1 }] as const;
  for (const key of [...keys, ...keys]) expect(atOf(key)).toBe(key.at);
  expect(compute).toHaveBeenCalledTimes(keys.length);
});

test('a failed computation is repeated', () => {
  let isBroken = true;
  const read = oncePer((_key: object) => {
    if (isBroken) throw new Error('broken');
    return 'read';
  });
  const key = {};
  expect(() => read(key)).toThrow('broken');
  isBroken = false;
  expect(read(key)).toBe('read');
});
