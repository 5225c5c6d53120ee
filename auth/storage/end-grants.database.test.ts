import { randomBytes } from 'node:crypto';
import { errors } from 'oidc-provider';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { migrateRevocations } from '#shared/http/authenticate/revocations.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { migrateAccounts } from '../accounts/person-table.ts';
import { createAdapterFactory } from './adapter.ts';
import { cleanUp } from './clean-up.ts';
import { createGrantEnder, endGrantsOfClient } from './end-grants.ts';
import { deleteAccessTokensOfClient } from './end-records.ts';
import { isRevokedNow } from './is-revoked.ts';
import { createRecordSeal } from './seal-record.ts';
import { insertUsedOnce, migrateAuthStorage } from './statements.ts';

const LIFETIME_S = 60;
const seal = createRecordSeal(parseMasterKey(randomBytes(32).toString('base64')));

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createDatabase();
  pool = openPool({ url: database.url, applicationName: 'test', connectionsMax: 8 });
  await migrateRevocations(pool);
  await migrateAuthStorage(pool);
  await migrateAccounts(pool);
});
beforeEach(async () => {
  await pool.query('truncate auth.record, auth.device_poll, auth.used_once, auth.revoked');
});
afterAll(async () => {
  await pool?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const ender = () => createGrantEnder({ pool, onEnded: async () => {} });
const adapterOf = (kind: string) =>
  createAdapterFactory({ pool, seal, endGrant: ender().endGrant, findClient: async () => undefined })(kind);
const session = { jti: 's', kind: 'Session', uid: 'u', accountId: '7' };
const grant = { jti: 'g', kind: 'Grant', accountId: '7', clientId: 'web' };
const save = (kind: 'Session' | 'Grant') => {
  const payload = kind === 'Session' ? session : grant;
  return adapterOf(kind).upsert(payload.jti, payload, LIFETIME_S);
};

describe('a request that loaded a record before its end cannot restore it:', () => {
  const sessionEnds: readonly (readonly [string, () => Promise<void>])[] = [
    ['signs out', () => adapterOf('Session').destroy('s')],
    ['is deleted', () => ender().endGrantsOfUser(7)],
  ];
  test.each(sessionEnds)('a session whose user %s', async (_, end) => {
    await save('Session');
    await end();
    await save('Session');
    expect(await adapterOf('Session').find('s')).toBeUndefined();
    expect(await adapterOf('Session').findByUid('u')).toBeUndefined();
  });

  const grantEnds: readonly (readonly [string, () => Promise<void>])[] = [
    ['by itself', () => adapterOf('Grant').destroy('g')],
    ['with its user', () => ender().endGrantsOfUser(7)],
    ['with its client', () => ender().endGrantsOfClient('web')],
  ];
  test.each(grantEnds)('a grant that ended %s; adding to it fails', async (_, end) => {
    await save('Grant');
    await end();
    await expect(save('Grant')).rejects.toThrow(errors.AccessDenied);
    expect(await adapterOf('Grant').find('g')).toBeUndefined();
  });

  test('a session that is being saved at the very moment of its end', async () => {
    await save('Session');
    await Promise.all([
      save('Session'),
      save('Session'),
      adapterOf('Session').destroy('s'),
      save('Session'),
      save('Session'),
    ]);
    expect(await adapterOf('Session').find('s')).toBeUndefined();
  });
});

test('a session that gets a new secret keeps its public id', async () => {
  await save('Session');
  await adapterOf('Session').destroy('s');
  await adapterOf('Session').upsert('renamed', { ...session, jti: 'renamed' }, LIFETIME_S);
  expect(await adapterOf('Session').findByUid('u')).toMatchObject({ jti: 'renamed' });
});

test('an ended record has no content, and is removed later', async () => {
  await save('Session');
  await save('Grant');
  await ender().endGrantsOfUser(7);
  const { rows } = await pool.query(
    'select other_hash, grant_id, account_id, client_id, length(sealed) as length from auth.record',
  );
  expect(rows).toEqual(
    Array(2).fill({ other_hash: null, grant_id: null, account_id: null, client_id: null, length: 0 }),
  );
  await pool.query(`update auth.record set expires_at = expires_at - interval '1 day'`);
  expect(await cleanUp(pool)).toBe(2);
});

describe('a client', () => {
  const token = {
    jti: 'j',
    grantId: 'g',
    userId: 7,
    clientId: 'web',
    issuedAtS: 0,
    seen: { user: 0, client: 0 },
  };

  test('ends in the caller’s transaction, with all its tokens or not at all', async () => {
    await save('Grant');
    const failing = inTransaction(pool, async (connection) => {
      await endGrantsOfClient(connection, 'web');
      throw new Error('not after all');
    });
    await expect(failing).rejects.toThrow('not after all');
    expect(await adapterOf('Grant').find('g')).toBeDefined();
    expect(await isRevokedNow(pool, token)).toBe(false);

    const end = () => inTransaction(pool, (connection) => endGrantsOfClient(connection, 'web'));
    expect(await end()).toEqual([{ grantId: 'g', accountId: '7', clientId: 'web' }]);
    expect(await isRevokedNow(pool, token)).toBe(true);
    expect(await end()).toEqual([]);
  });

  test('loses its opaque access tokens, and nothing else', async () => {
    const kinds = ['AccessToken', 'ClientCredentials', 'RefreshToken'];
    for (const kind of kinds)
      await adapterOf(kind).upsert('x', { jti: 'x', kind, clientId: 'web' }, LIFETIME_S);
    await adapterOf('AccessToken').upsert(
      'y',
      { jti: 'y', kind: 'AccessToken', clientId: 'other' },
      LIFETIME_S,
    );
    await deleteAccessTokensOfClient(pool, 'web');
    const found = await Promise.all(kinds.map((kind) => adapterOf(kind).find('x')));
    expect(found.map((record) => record !== undefined)).toEqual([false, false, true]);
    expect(await adapterOf('AccessToken').find('y')).toBeDefined();
  });
});

test.each([1e13, 1e300])('a value that is valid for %d seconds can be used once, too', async (expiresInS) => {
  const digest = seal.hash('used once', 'endless');
  expect(await insertUsedOnce(pool, digest, expiresInS)).toBe(true);
  expect(await insertUsedOnce(pool, digest, expiresInS)).toBe(false);
});
