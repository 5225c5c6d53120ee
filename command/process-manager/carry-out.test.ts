import { expect, test } from 'vitest';
import { allDone } from './carry-out.ts';

test('one that fails is told of only once the others have come to their end', async () => {
  const slow = Promise.withResolvers<void>();
  const steps: string[] = [];
  const all = allDone([
    Promise.reject(new Error('refused')),
    slow.promise.then(() => void steps.push('slow')),
  ]).catch((error: Error) => void steps.push(error.message));
  // Whatever would not wait has come by now.
  await new Promise(setImmediate);
  slow.resolve();
  await all;
  expect(steps).toEqual(['slow', 'refused']);
});
