import { expect, test } from 'vitest';
import { createKeyedQueue } from './keyed-queue.ts';

const turn = () => new Promise(setImmediate);

test('tasks of one key run in order, one at a time', async () => {
  const queue = createKeyedQueue<string>();
  const steps: string[] = [];
  const work = (name: string) => async () => {
    steps.push(`${name} begins`);
    await turn();
    steps.push(`${name} ends`);
  };
  await Promise.all(['a', 'b', 'c'].map((name) => queue.run('key', work(name))));
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('tasks of different keys do not wait for each other', async () => {
  const queue = createKeyedQueue<string>();
  const { promise: never, resolve: end } = Promise.withResolvers<void>();
  const stuck = queue.run('one', () => never);
  expect(await queue.run('two', async () => 'done')).toBe('done');
  end();
  await stuck;
});

test('a failed task does not affect others', async () => {
  const queue = createKeyedQueue<string>();
  const failing = queue.run('key', () => Promise.reject(new RangeError()));
  const after = queue.run('key', async () => 'done');
  await expect(failing).rejects.toThrow(RangeError);
  expect(await after).toBe('done');
});

test('a queue that is too long is refused', async () => {
  const queue = createKeyedQueue<string>(2);
  const first = [queue.run('key', turn), queue.run('key', turn)];
  await expect(queue.run('key', turn)).rejects.toMatchObject({ code: 'conflict' });
  await Promise.all(first);
  await queue.run('key', turn);
});
