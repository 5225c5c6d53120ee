import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import { migrate } from '#shared/database/migrate.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { test as base } from '../../test/engines/pool.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { createAttempts } from './attempts.ts';
import { createSignInLimits } from './sign-in-limits.ts';

const HOUR_MS = 3_600_000;
const slow = { name: 'slow', burst: 3, intervalMs: HOUR_MS };

const test = base
  .extend('connectionsMax', { scope: 'file' }, 8)
  .extend('attempts', { scope: 'file' }, async ({ pool }) => {
    await migrate(pool, 'auth-accounts', new URL('../persons/migrations/', import.meta.url));
    return createAttempts({ pool, masterKey: parseMasterKey(randomBytes(32).toString('base64')) });
  })
  .extend('limits', { scope: 'file' }, ({ attempts }) => createSignInLimits(attempts))
  .extend(
    'takeMany',
    { scope: 'file' },
    ({ attempts }) =>
      (times: number, subject: string) =>
        Promise.all(Array.from({ length: times }, () => attempts.take(slow, subject))),
  )
  .extend(
    'guess',
    { scope: 'file' },
    ({ limits }) =>
      (account: string, address: string, device?: string) =>
        limits.admit({ account, address, device }),
  );

test('of many parallel attempts, exactly the allowed number pass, and one of them learns that it is the last', async ({
  takeMany,
}) => {
  const taken = await takeMany(20, 'at-once');
  expect(taken.filter(({ granted }) => granted)).toHaveLength(3);
  expect(taken.filter((each) => each.granted && each.isLast)).toHaveLength(1);
});

test('a refused caller learns how long to wait', async ({ attempts, takeMany }) => {
  await takeMany(3, 'wait');
  const refused = await attempts.take(slow, 'wait');
  expect(refused).toEqual({ granted: false, waitMs: expect.closeTo(HOUR_MS, -4) });
});

test('an attempt is allowed again after the wait', async ({ attempts }) => {
  const quick = { name: 'quick', burst: 1, intervalMs: scaled(300) };
  await attempts.take(quick, 'x');
  expect((await attempts.take(quick, 'x')).granted).toBe(false);
  await until(
    () => attempts.take(quick, 'x'),
    ({ granted }) => granted,
  );
});

test('an attempt that was given back can be taken again, and a reset restores all of them', async ({
  attempts,
  takeMany,
}) => {
  await takeMany(3, 'back');
  await attempts.giveBack(slow, 'back');
  expect((await takeMany(2, 'back')).map(({ granted }) => granted).toSorted()).toEqual([false, true]);
  await attempts.forget(slow, 'back');
  expect((await takeMany(3, 'back')).every(({ granted }) => granted)).toBe(true);
});

test('subjects and allowances are independent, and the table reveals no subject', async ({
  attempts,
  pool,
  takeMany,
}) => {
  await takeMany(3, 'ada@example.com');
  expect((await attempts.take({ ...slow, name: 'other' }, 'ada@example.com')).granted).toBe(true);
  expect((await attempts.take(slow, 'ben@example.com')).granted).toBe(true);
  const { rows } = await pool.query<{ key: string }>('select key from auth.attempt');
  for (const { key } of rows) expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('expired entries are deleted', async ({ attempts, pool }) => {
  await pool.query(
    `insert into auth.attempt (key, tat) select 'old-' || n, now() - interval '1 day' from generate_series(1, 120) n`,
  );
  for (let times = 0; times < 3; times += 1) await attempts.take(slow, 'clears');
  expect((await pool.query(`select from auth.attempt where key like 'old-%'`)).rowCount).toBe(0);
});

describe('guesses at an account', () => {
  test('are limited to ten from one address; other addresses have their own, and a success resets only its own address', async ({
    guess,
    limits,
  }) => {
    const guesses = [];
    for (let each = 1; each <= 10; each += 1) guesses.push(await guess('ada', '192.0.2.1'));
    expect(guesses.map((each) => each.granted && each.locksIfWrong)).toEqual([...Array(9).fill(false), true]);
    expect(await guess('ada', '192.0.2.1')).toMatchObject({ granted: false });
    expect(await guess('ada', '192.0.2.2')).toMatchObject({ granted: true, locksIfWrong: false });
    await limits.succeeded({ account: 'ada', address: '192.0.2.1', device: undefined });
    expect(await guess('ada', '192.0.2.1')).toMatchObject({ granted: true, locksIfWrong: false });
  });

  test('are limited to a hundred in total, which no success resets; a known browser has its own ten', async ({
    guess,
    limits,
  }) => {
    const guesses = [];
    for (let each = 0; each < 100; each += 1) guesses.push(await guess('ben', `192.0.2.${each % 20}`));
    expect(guesses.filter(({ granted }) => granted)).toHaveLength(100);
    expect(await guess('ben', '198.51.100.9')).toMatchObject({ granted: false });
    const known = [];
    for (let each = 1; each <= 11; each += 1) known.push(await guess('ben', `198.51.100.${each}`, 'laptop'));
    expect(known.map(({ granted }) => granted)).toEqual([...Array(10).fill(true), false]);
    expect(await guess('ben', '198.51.100.20', 'phone')).toMatchObject({ granted: true });
    await limits.succeeded({ account: 'ben', address: '198.51.100.20', device: 'phone' });
    expect(await guess('ben', '198.51.100.30')).toMatchObject({ granted: false });
  });
});

test('one address has fifty guesses, whatever the accounts', async ({ limits }) => {
  const guesses = [];
  for (let each = 0; each < 51; each += 1)
    guesses.push(await limits.admit({ account: `user-${each}`, address: '203.0.113.1', device: undefined }));
  expect(guesses.filter(({ granted }) => granted)).toHaveLength(50);
  expect(await limits.admit({ account: 'user-1', address: '203.0.113.2', device: undefined })).toMatchObject({
    granted: true,
  });
});

test('after the clock was set back, nobody waits longer than all attempts together take', async ({
  attempts,
  pool,
  takeMany,
}) => {
  await takeMany(3, 'clock');
  await pool.query(`update auth.attempt set tat = tat + interval '30 days'`);
  expect(await attempts.take(slow, 'clock')).toEqual({ granted: false, waitMs: expect.closeTo(HOUR_MS, -4) });
});
