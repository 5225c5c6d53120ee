import { expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import { createSemaphore, TooBusy } from './semaphore.ts';

/** A task that runs until it is released. */
const held = () => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { work: () => promise, letGo: resolve, fail: reject };
};

test('a fixed number run, a fixed number wait, and the next is rejected at once', async () => {
  const limited = createSemaphore({ atOnceMax: 2, waitingMax: 1 });
  const begun: number[] = [];
  const jobs = [held(), held(), held()];
  const results = jobs.map((job, index) =>
    limited(() => {
      begun.push(index);
      return job.work();
    }),
  );
  await expect(limited(async () => {})).rejects.toThrow(TooBusy);
  await expect(limited(async () => {})).rejects.toThrow('the queue is full');
  expect(begun).toEqual([0, 1]);
  jobs[0]?.letGo();
  await results[0];
  await until(
    () => begun,
    ({ length }) => length === 3,
  );
  for (const job of jobs) job.letGo();
  await Promise.all(results);
});

test('a failed task frees its slot', async () => {
  const limited = createSemaphore({ atOnceMax: 1, waitingMax: 5 });
  const failing = limited(() => Promise.reject(new RangeError('x')));
  const next = limited(async () => 'done');
  await expect(failing).rejects.toThrow(RangeError);
  expect(await next).toBe('done');
});
