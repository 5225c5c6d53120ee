import { expect, test } from 'vitest';
import { createSharedRuns } from './shared-runs.ts';

const controlled = () => {
  const runs: PromiseWithResolvers<number>[] = [];
  const run = () => {
    const begun = Promise.withResolvers<number>();
    runs.push(begun);
    return begun.promise;
  };
  return { runs, run };
};

test('callers that come during a run share the next one, never that one', async () => {
  const share = createSharedRuns<number>();
  const { runs, run } = controlled();
  const [first, second, third] = [share('list', run), share('list', run), share('list', run)];
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  await expect(first).resolves.toBe(1);
  expect(runs).toHaveLength(2);
  const fourth = share('list', run);
  runs[1]?.resolve(2);
  await expect(Promise.all([second, third])).resolves.toEqual([2, 2]);
  expect(runs).toHaveLength(3);
  runs[2]?.resolve(3);
  await expect(fourth).resolves.toBe(3);
});

test('different keys do not wait for each other', () => {
  const share = createSharedRuns<number>();
  const { runs, run } = controlled();
  void share('one', run);
  void share('other', run);
  expect(runs).toHaveLength(2);
});

test('a failure reaches those who shared the run, and the next run is made anyway', async () => {
  const share = createSharedRuns<number>();
  const { runs, run } = controlled();
  const [first, second] = [share('list', run), share('list', run)];
  runs[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  runs[1]?.resolve(2);
  await expect(second).resolves.toBe(2);
  const third = share('list', run);
  expect(runs).toHaveLength(3);
  runs[2]?.resolve(3);
  await expect(third).resolves.toBe(3);
});
