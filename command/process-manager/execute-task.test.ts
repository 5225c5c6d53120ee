import { expect, test } from 'vitest';
import { allDone } from './execute-task.ts';

test('a failure is reported after all others have ended', async () => {
  const slow = Promise.withResolvers<void>();
  const steps: string[] = [];
  const all = allDone([
    Promise.reject(new Error('refused')),
    slow.promise.then(() => void steps.push('slow')),
  ]).catch((error: Error) => void steps.push(error.message));
  // By now a wrong implementation would have thrown.
  await new Promise(setImmediate);
  slow.resolve();
  await all;
  expect(steps).toEqual(['slow', 'refused']);
});
