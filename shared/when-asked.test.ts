import { expect, test } from 'vitest';
import { whenAsked } from './when-asked.ts';

test('a value is made once, and only when it is asked for', async () => {
  let made = 0;
  const value = whenAsked(async () => {
    made += 1;
    return made;
  });
  expect(made).toBe(0);
  expect(await Promise.all([value(), value()])).toEqual([1, 1]);
});

test('after a failure, the next caller tries again', async () => {
  let tried = 0;
  const value = whenAsked(async () => {
    tried += 1;
    if (tried === 1) throw new Error('too many open files');
    return tried;
  });
  await expect(value()).rejects.toThrow('too many open files');
  expect(await value()).toBe(2);
});
