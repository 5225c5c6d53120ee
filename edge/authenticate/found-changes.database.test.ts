import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { UserId, Version } from '#kernel/base/brands.ts';
import { REAL_TIME, realTimeAhead } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { readSeenRevocations } from '../../test/engines/read-seen-revocations.ts';
import { nowS } from '../../test/token-mint.ts';
import { until } from '../../testing/until.ts';
import { followRevocations } from './follow-revocations.ts';
import { migrateRevocations, type Revocable, revoke } from './revocations.ts';

const resources = new AsyncDisposableStack();
let pool: Pool;
let revocations: Awaited<ReturnType<typeof followRevocations>>;
let userId = 7_000 as UserId;
beforeAll(async () => {
  const database = resources.use(await createDatabase());
  pool = resources.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 }));
  await migrateRevocations(pool);
  revocations = resources.use(
    await followRevocations({ pool, log: pino({ level: 'silent' }), clock: REAL_TIME }),
  );
});
afterAll(() => resources.disposeAsync());
beforeEach(() => {
  userId = (userId + 1) as UserId;
});

/**
 * Issues a token as the authorization server does once its directory has read the user’s stream up to a
 * version.
 */
const issue = async (userVersion: number | undefined, more: Partial<Revocable> = {}): Promise<Revocable> => {
  const token = { jti: 'one', grantId: undefined, clientId: 'web', userId, issuedAtS: nowS() };
  const seen = await readSeenRevocations(pool, token);
  return {
    ...token,
    seen: userVersion === undefined ? undefined : seen,
    userVersion: userVersion as Version | undefined,
    ...more,
  };
};
/** A process finds a change of the user’s role in the log before the authorization server has read it. */
const change = (version: number, at = new Date()) =>
  revocations.revokeUser(userId, { version: version as Version, at });
const isRevoked = (token: Revocable) => revocations.isRevoked(token);
/** The authorization server has read an earlier change, and its revocation is known here. */
const settle = async () => {
  const before = await issue(1);
  await revoke(pool, 'user', String(userId));
  await until(
    () => isRevoked(before),
    (isIt) => isIt,
  );
};

test('each of two changes in the same second revokes the earlier tokens', async () => {
  const at = new Date();
  change(2, at);
  await settle();
  const between = await issue(2);
  expect(isRevoked(between)).toBe(false);
  change(3, at);
  expect(isRevoked(between)).toBe(true);
});

test('a change revokes earlier tokens even while the revocation for an earlier change is stored', async () => {
  change(2, new Date(Date.now() - 5_000));
  const between = await issue(2, { issuedAtS: nowS() - 4 });
  change(3);
  await settle();
  const late = await issue(2);
  expect([between, late].map(isRevoked)).toEqual([true, true]);
});

test('a change revokes earlier tokens even if the clock of this process is months ahead', async () => {
  const clock = realTimeAhead(() => 90 * 86_400_000);
  await using ahead = await followRevocations({ pool, log: pino({ level: 'silent' }), clock });
  const token = await issue(1);
  ahead.revokeUser(userId, { version: 2 as Version, at: new Date() });
  expect(ahead.isRevoked(token)).toBe(true);
});

test('a change revokes the tokens of an authorization server whose clock is ahead', async () => {
  const ahead = await issue(1, { issuedAtS: nowS() + 4 });
  change(2);
  expect(isRevoked(ahead)).toBe(true);
});

test('a token issued after the change is valid, even if the clock that dated the change is ahead', async () => {
  change(2, new Date(Date.now() + 4_000));
  expect(isRevoked(await issue(2))).toBe(false);
  expect(isRevoked(await issue(3))).toBe(false);
});

test('an older change that is found later undoes nothing', async () => {
  change(3);
  change(2);
  expect(isRevoked(await issue(2))).toBe(true);
});

test('a token of the former release is revoked by its time of issue', async () => {
  const before = await issue(undefined);
  change(2);
  expect(isRevoked(before)).toBe(true);
  expect(isRevoked(await issue(undefined, { issuedAtS: nowS() + 4 }))).toBe(false);
});
