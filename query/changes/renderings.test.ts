import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { createRenderings } from './renderings.ts';

const caller: Caller = { kind: 'anonymous', policy: POLICY };
const change = { position: 5 as Position } as Change;

test('concurrent requests for the same message share it, and so do those soon after', async () => {
  let made = 0;
  const cohort = {
    key: 'a',
    topics: [],
    async render() {
      made += 1;
      return Buffer.from('x');
    },
  };
  const renderings = createRenderings();
  const [one, other] = await Promise.all([
    renderings.of(cohort, change, caller),
    renderings.of(cohort, change, caller),
  ]);
  expect(one).toBe(other);
  expect(await renderings.of(cohort, change, caller)).toBe(one);
  expect(made).toBe(1);
});

test('nobody gets a message that was made, or was being made, before the cache was cleared', async () => {
  const [begun, shown] = [Promise.withResolvers<Buffer>(), Promise.resolve(Buffer.from('after'))];
  const answers = [Promise.resolve(Buffer.from('before')), begun.promise, shown, shown];
  const cohort = { key: 'a', topics: [], render: () => answers.shift() as Promise<Buffer> };
  const renderings = createRenderings();
  const other = { position: 6 as Position } as Change;
  await renderings.of(cohort, change, caller);
  const late = renderings.of(cohort, other, caller);
  renderings.clear();
  expect(String(await renderings.of(cohort, change, caller))).toBe('after');
  begun.resolve(Buffer.from('before'));
  expect(String(await late)).toBe('before');
  expect(String(await renderings.of(cohort, other, caller))).toBe('after');
});

test('a rendering that takes too long fails as a temporary error, and the next request renders again', async () => {
  let isSlow = true;
  const cohort = {
    key: 'a',
    topics: [],
    render: () => (isSlow ? new Promise<Buffer>(() => {}) : Promise.resolve(Buffer.from('x'))),
  };
  const renderings = createRenderings(10);
  await expect(renderings.of(cohort, change, caller)).rejects.toMatchObject({ code: 'unavailable' });
  isSlow = false;
  expect(String(await renderings.of(cohort, change, caller))).toBe('x');
});
