// Over 200 lines, because all kinds of records are tried on the one storage that is set up here.
import { randomBytes } from 'node:crypto';
import { errors } from 'oidc-provider';
import { describe, expect } from 'vitest';
import { migrateRevocations } from '#edge/authenticate/revocations.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { test as base } from '../../test/engines/pool.ts';
import { migrateAccounts } from '../persons/person-table.ts';
import { createAdapterFactory } from './adapter.ts';
import { cleanUp } from './clean-up.ts';
import { createGrantEnder } from './end-grants.ts';
import type { EndedGrant } from './end-records.ts';
import { isRevokedNow } from './is-revoked.ts';
import { createRecordSeal } from './seal-record.ts';
import { insertUsedOnce, migrateAuthStorage } from './statements.ts';

const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
const seal = createRecordSeal(masterKey);

const test = base
  .extend('connectionsMax', { scope: 'file' }, 8)
  .extend('ended', () => [] as EndedGrant[])
  .extend('ender', ({ ended, pool }) =>
    createGrantEnder({ pool, onEnded: async (grant) => void ended.push(grant) }),
  )
  .extend('adapterOf', ({ ender, pool }) =>
    createAdapterFactory({ pool, seal, endGrant: ender.endGrant, findClient: async () => undefined }),
  )
  .extend('fill', ({ adapterOf }) => async (grantId: string, accountId = '7', clientId = 'web') => {
    await adapterOf('Grant').upsert(grantId, { jti: grantId, kind: 'Grant', accountId, clientId }, 60);
    await adapterOf('RefreshToken').upsert(
      `r-${grantId}`,
      { ...code, kind: 'RefreshToken', grantId, accountId, clientId },
      60,
    );
  });
test.beforeAll(async ({ pool }) => {
  await migrateRevocations(pool);
  await migrateAuthStorage(pool);
  await migrateAccounts(pool);
});
test.beforeEach(async ({ pool }) => {
  await pool.query('truncate auth.record, auth.device_poll, auth.used_once, auth.revoked');
});

const code = {
  jti: 'the-code',
  kind: 'AuthorizationCode',
  grantId: 'g',
  accountId: '7',
  clientId: 'web',
  scope: 'openid',
  exp: 9_999_999_999,
};

describe('a record', () => {
  test('comes back as it was saved last', async ({ adapterOf }) => {
    const codes = adapterOf('AuthorizationCode');
    await codes.upsert('the-code', code, 60);
    expect(await codes.find('the-code')).toEqual(code);
    await codes.upsert('the-code', { ...code, scope: 'email' }, 60);
    expect(await codes.find('the-code')).toMatchObject({ scope: 'email' });
    await codes.destroy('the-code');
    expect(await codes.find('the-code')).toBeUndefined();
  });

  test('with another name is saved by all parallel writers', async ({ adapterOf }) => {
    const sessions = adapterOf('Session');
    for (let round = 0; round < 1000; round += 1) {
      const save = () =>
        sessions.upsert(`s${round}`, { jti: `s${round}`, kind: 'Session', uid: `u${round}` }, 60);
      await Promise.all([save(), save(), save(), save(), save(), save(), save(), save()]);
    }
    expect(await sessions.findByUid('u999')).toMatchObject({ jti: 's999' });
  });

  test('belongs to its kind: a code is not a refresh token', async ({ adapterOf }) => {
    await adapterOf('AuthorizationCode').upsert('the-code', code, 60);
    expect(await adapterOf('RefreshToken').find('the-code')).toBeUndefined();
  });

  test('that was consumed is still found, and says so', async ({ adapterOf }) => {
    const codes = adapterOf('AuthorizationCode');
    await codes.upsert('the-code', code, 60);
    await codes.consume('the-code');
    expect(await codes.find('the-code')).toEqual({ ...code, consumed: expect.any(Number) });
  });

  test('is found by its other name', async ({ adapterOf }) => {
    await adapterOf('DeviceCode').upsert('d', { jti: 'd', kind: 'DeviceCode', userCode: 'BCDFGHJK' }, 60);
    expect(await adapterOf('DeviceCode').findByUserCode('BCDFGHJK')).toMatchObject({ jti: 'd' });
    await adapterOf('Session').upsert('s', { jti: 's', kind: 'Session', uid: 'u' }, 60);
    expect(await adapterOf('Session').findByUid('u')).toMatchObject({ jti: 's' });
    expect(await adapterOf('Session').findByUid('s')).toBeUndefined();
  });

  test('is encrypted in the table, and opens in no other row', async ({ adapterOf, pool }) => {
    await adapterOf('AuthorizationCode').upsert('the-code', code, 60);
    await adapterOf('DeviceCode').upsert(
      'the-device',
      { jti: 'the-device', kind: 'DeviceCode', userCode: 'BCDFGHJK' },
      60,
    );
    const { rows } = await pool.query<{ row: string }>(
      `select record::text || encode(sealed, 'escape') as row from auth.record`,
    );
    expect(rows).toHaveLength(2);
    for (const { row } of rows) expect(row).not.toMatch(/the-code|the-device|BCDFGHJK|openid/);
    await adapterOf('AuthorizationCode').upsert('other', code, 60);
    await pool.query(
      'update auth.record set sealed = (select sealed from auth.record where id_hash = $1) where id_hash <> $1',
      [seal.hash('AuthorizationCode', 'the-code')],
    );
    await expect(adapterOf('AuthorizationCode').find('other')).rejects.toThrow('cannot be decrypted');
  });
});

describe('a single-use value', () => {
  const AT_ONCE = 20;
  const succeeded = async (attempts: readonly Promise<unknown>[]) =>
    (await Promise.allSettled(attempts)).filter(({ status }) => status === 'fulfilled').length;

  test.for(['AuthorizationCode', 'RefreshToken', 'DeviceCode'])(
    '%s: one of many succeeds, and the grant ends with the second',
    async (kind, { adapterOf, ended }) => {
      const adapter = adapterOf(kind);
      await adapterOf('Grant').upsert('g', { jti: 'g', kind: 'Grant', accountId: '7', clientId: 'web' }, 60);
      await adapter.upsert('x', { ...code, kind, jti: 'x' }, 60);
      expect(await succeeded(Array.from({ length: AT_ONCE }, () => adapter.consume('x')))).toBe(1);
      await expect(adapter.consume('x')).rejects.toThrow(errors.InvalidGrant);
      expect(await adapterOf('Grant').find('g')).toBeUndefined();
      expect(ended).toEqual([{ grantId: 'g', accountId: '7', clientId: 'web' }]);
    },
  );

  test('is a pushed request, refused with its own error', async ({ adapterOf }) => {
    const adapter = adapterOf('PushedAuthorizationRequest');
    await adapter.upsert('x', { jti: 'x', kind: 'PushedAuthorizationRequest', request: 'e30.e30.' }, 60);
    expect(await succeeded(Array.from({ length: AT_ONCE }, () => adapter.consume('x')))).toBe(1);
    await expect(adapter.consume('x')).rejects.toThrow(errors.InvalidRequestUri);
  });

  test('a proof', async ({ pool }) => {
    const digest = seal.hash('used once', 'proof');
    const firsts = await Promise.all(Array.from({ length: AT_ONCE }, () => insertUsedOnce(pool, digest, 60)));
    expect(firsts.filter(Boolean)).toHaveLength(1);
  });

  const waiting = { jti: 'd', kind: 'DeviceCode', userCode: 'BCDFGHJK', clientId: 'tv' };
  const taken = { ...waiting, inFlight: true };
  test('a user code is claimed by one person, and only they decide it', async ({ adapterOf }) => {
    const codes = adapterOf('DeviceCode');
    await codes.upsert('d', waiting, 60);
    expect(await succeeded(Array.from({ length: AT_ONCE }, () => codes.upsert('d', taken, 60)))).toBe(1);
    const deciding = Array.from({ length: AT_ONCE }, (_, user) =>
      codes.upsert('d', { ...taken, accountId: String(user + 1) }, 60),
    );
    expect(await succeeded(deciding)).toBe(1);
    await expect(codes.upsert('d', { ...taken, error: 'access_denied' }, 60)).rejects.toThrow(
      errors.AccessDenied,
    );
  });

  test('a claimed user code cannot be declined by another person', async ({ adapterOf }) => {
    const codes = adapterOf('DeviceCode');
    await codes.upsert('d', waiting, 60);
    await codes.upsert('d', taken, 60);
    await expect(codes.upsert('d', { ...waiting, error: 'access_denied' }, 60)).rejects.toThrow(
      errors.AccessDenied,
    );
  });
});

describe('a grant', () => {
  const token = (grantId: string | undefined, userId = 7, clientId = 'web') => ({
    jti: `j-${grantId}`,
    grantId,
    userId,
    clientId,
    issuedAtS: Math.floor(Date.now() / 1_000) - 1,
    seen: { user: 0, client: 0 },
  });

  test('ends with everything under it, and with nothing else', async ({ adapterOf, ended, fill, pool }) => {
    await fill('one');
    await fill('two');
    await adapterOf('Grant').destroy('one');
    await adapterOf('Grant').destroy('one');
    expect(await adapterOf('RefreshToken').find('r-one')).toBeUndefined();
    expect(await adapterOf('RefreshToken').find('r-two')).toBeDefined();
    expect([await isRevokedNow(pool, token('one')), await isRevokedNow(pool, token('two'))]).toEqual([
      true,
      false,
    ]);
    expect(ended.map(({ grantId }) => grantId)).toEqual(['one']);
  });

  test('ends with its user, or with its client', async ({ ended, ender, fill, pool }) => {
    await fill('one', '7', 'web');
    await fill('two', '8', 'web');
    await fill('three', '8', 'app');
    await ender.endGrantsOfUser(7);
    await ender.endGrantsOfClient('app');
    expect(ended.map(({ grantId }) => grantId)).toEqual(['one', 'three']);
    expect(await isRevokedNow(pool, token(undefined, 7, 'elsewhere'))).toBe(true);
    expect(await isRevokedNow(pool, token('two', 8, 'web'))).toBe(false);
  });
});

test('expired records are removed after a while, in batches', async ({ adapterOf, pool }) => {
  const codes = adapterOf('AuthorizationCode');
  for (let each = 0; each < 7; each += 1) await codes.upsert(`old-${each}`, code, -7_200);
  await codes.upsert('just-expired', code, -60);
  await codes.upsert('alive', code, 60);
  await insertUsedOnce(pool, seal.hash('used once', 'old'), -7_200);
  await pool.query(
    `insert into auth.pending_sign_up values ('one', 'sealed', now() - interval '2 hours'), ('other', 'sealed', now())`,
  );
  expect(await cleanUp(pool, 2)).toBe(9);
  expect(await codes.find('just-expired')).toBeDefined();
  expect(await codes.find('alive')).toBeDefined();
  expect(await cleanUp(pool, 2)).toBe(0);
});
