import { expect, test } from 'vitest';
import { later } from './later.ts';

test('a module is at hand once it is loaded, and is loaded once', async () => {
  let loads = 0;
  const each = later('The code of holds', async () => {
    loads += 1;
    return { one: 1 };
  });
  expect(() => each.module).toThrow('The code of holds is used before it is loaded');
  await Promise.all([each.load(), each.load()]);
  expect(each.module.one).toBe(1);
  const before = loads;
  await each.load();
  expect(loads).toBe(before);
});

test('a module that another one has imported is not loaded again', async () => {
  const each = later('The code of holds', async (): Promise<{ one: number }> => {
    throw new Error('loaded');
  });
  each.provide({ one: 1 });
  await each.load();
  expect(each.module.one).toBe(1);
});
