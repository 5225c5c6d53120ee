import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { coalesce, createPace } from './coalesce.ts';

/** Loads that the test ends. */
const slowLoads = () => {
  const loads: {
    readonly keys: readonly number[];
    end(values?: ReadonlyMap<number, string>): void;
    fail(error: Error): void;
  }[] = [];
  const loadMany = (keys: readonly number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<number, string>>();
    loads.push({
      keys,
      end: (values = new Map(keys.map((key) => [key, `value ${key}`]))) => resolve(values),
      fail: reject,
    });
    return promise;
  };
  const keys = () => loads.map((load) => load.keys);
  return { loads, loadMany, keys };
};

test('a single read runs at the end of its turn', async () => {
  const { loads, loadMany, keys } = slowLoads();
  const read = coalesce(loadMany)(1);
  expect(keys()).toEqual([]);
  await endOfTurn();
  expect(keys()).toEqual([[1]]);
  loads[0]?.end();
  expect(await read).toBe('value 1');
});

test('reads of the same turn run together', async () => {
  const { loads, loadMany, keys } = slowLoads();
  const read = coalesce(loadMany);
  const reads = [read(1), read(2), read(1)];
  await endOfTurn();
  expect(keys()).toEqual([[1, 2]]);
  loads[0]?.end();
  expect(await Promise.all(reads)).toEqual(['value 1', 'value 2', 'value 1']);
});

test('after a read that was alone, the next one runs at once, until several come together', async () => {
  const { loads, loadMany, keys } = slowLoads();
  const read = coalesce(loadMany, { pace: createPace() });
  const first = read(1);
  expect(keys()).toEqual([]);
  await endOfTurn();
  loads[0]?.end();
  await first;
  const next = read(2);
  expect(keys()).toEqual([[1], [2]]);
  const others = [read(3), read(4)];
  loads[1]?.end();
  await next;
  expect(keys()).toEqual([[1], [2], [3, 4]]);
  loads[2]?.end();
  await Promise.all(others);
  const last = read(5);
  expect(keys()).toHaveLength(3);
  await endOfTurn();
  expect(keys()).toHaveLength(4);
  loads[3]?.end();
  expect(await last).toBe('value 5');
});

test('reads during a load run together, each key once, and each gets its result', async () => {
  const { loads, loadMany, keys } = slowLoads();
  const read = coalesce(loadMany);
  const first = read(1);
  await endOfTurn();
  const others = [read(2), read(3), read(2), read(1)];
  expect(keys()).toEqual([[1]]);
  loads[0]?.end();
  await first;
  expect(keys()).toEqual([[1], [2, 3, 1]]);
  loads[1]?.end(new Map([[2, 'two']]));
  expect(await Promise.all(others)).toEqual(['two', undefined, 'two', undefined]);
});

test('a batch has a maximum size', async () => {
  const { loads, loadMany, keys } = slowLoads();
  const read = coalesce(loadMany, { keysMax: 2 });
  const reads = [read(1)];
  await endOfTurn();
  reads.push(...[2, 3, 4].map(read));
  for (let load = 0; load < 3; load += 1) {
    loads[load]?.end();
    await reads[load * 2];
  }
  expect(keys()).toEqual([[1], [2, 3], [4]]);
  expect(await Promise.all(reads)).toEqual(['value 1', 'value 2', 'value 3', 'value 4']);
});

test('a failure reaches the readers of its load, and later reads work', async () => {
  const { loads, loadMany } = slowLoads();
  const read = coalesce(loadMany);
  const first = read(1);
  await endOfTurn();
  const second = read(2);
  loads[0]?.fail(new Error('away'));
  await expect(first).rejects.toThrow('away');
  loads[1]?.end();
  expect(await second).toBe('value 2');
  const third = read(3);
  await endOfTurn();
  loads[2]?.end();
  expect(await third).toBe('value 3');
});
