import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const turn = () => new Promise(setImmediate);

test('tasks of one key run in order, one at a time', async () => {
  const turns = createTurns<string>();
  const steps: string[] = [];
  const work = (name: string) => async () => {
    steps.push(`${name} begins`);
    await turn();
    steps.push(`${name} ends`);
  };
  await Promise.all(['a', 'b', 'c'].map((name) => turns.take('key', work(name))));
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('tasks of different keys do not wait for each other', async () => {
  const turns = createTurns<string>();
  const { promise: never, resolve: end } = Promise.withResolvers<void>();
  const stuck = turns.take('one', () => never);
  expect(await turns.take('two', async () => 'done')).toBe('done');
  end();
  await stuck;
});

test('a failed task does not affect others', async () => {
  const turns = createTurns<string>();
  const failing = turns.take('key', () => Promise.reject(new RangeError()));
  const after = turns.take('key', async () => 'done');
  await expect(failing).rejects.toThrow(RangeError);
  expect(await after).toBe('done');
});

test('a queue that is too long is refused', async () => {
  const turns = createTurns<string>(2);
  const first = [turns.take('key', turn), turns.take('key', turn)];
  await expect(turns.take('key', turn)).rejects.toMatchObject({ code: 'conflict' });
  await Promise.all(first);
  await turns.take('key', turn);
});
