import { expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { registerUser } from '../../test/engines/command-side.ts';
import { freshTest as base } from '../../test/engines/processes.ts';
import { demandKeys, findLostKeys } from './lost-keys.ts';

const test = base.extend(
  'lose',
  { scope: 'test' },
  ({ side }) =>
    (...userIds: readonly UserId[]) =>
      side.pool.query('delete from public.person_key where subject = any($1)', [userIds]),
);

const signal = AbortSignal.timeout(60_000);

test('an empty log has lost no keys', async ({ side }) => {
  await demandKeys(side, signal);
  expect(await findLostKeys(side, signal)).toEqual([]);
});

test('a database without any key is refused as long as the log has a person who was not erased', async ({
  lose,
  side,
}) => {
  const [one, other] = [await registerUser(side), await registerUser(side)];
  await demandKeys(side, signal);
  await lose(one, other);
  expect(await findLostKeys(side, signal)).toEqual([one, other]);
  await expect(demandKeys(side, signal)).rejects.toMatchObject({
    name: 'StartRefused',
    message: expect.stringMatching(/^The event log has personal data of 2 persons, .+docs\/backup\.md/),
  });
  await side.keys.destroy(one);
  await expect(demandKeys(side, signal)).rejects.toThrow('one person');
  await side.erasures.note([{ userId: other, at: new Date().toISOString(), event: null }]);
  await demandKeys(side, signal);
  expect(await findLostKeys(side, signal)).toEqual([]);
});

test('if there are some keys, the start is allowed, and persons with lost keys are found', async ({
  lose,
  side,
}) => {
  const [one, other] = [await registerUser(side), await registerUser(side)];
  await lose(one);
  await demandKeys(side, signal);
  expect(await findLostKeys(side, signal)).toEqual([one]);
  expect(other).not.toBe(one);
});
