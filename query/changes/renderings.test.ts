import { expect, test } from 'vitest';
import type { Position } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { createRenderings } from './renderings.ts';

const caller: Caller = { kind: 'anonymous', policy: POLICY };
const change = { position: 5 as Position } as Change;

test('who asks for the same at the same time waits for one message, and who asks soon after is given that', async () => {
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

test('what was made, or is being made, before all was forgotten is handed out to nobody else', async () => {
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

test('what takes too long is told as what passes, and is made anew for the next who asks', async () => {
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
