// Over 200 lines, because it is one subject: every way in which grants end, with the races of each.
import { randomBytes } from 'node:crypto';
import { errors } from 'oidc-provider';
import { describe, expect } from 'vitest';
import { migrateRevocations } from '#edge/authenticate/revocations.ts';
import type { UserId, Version } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { test as base } from '../../test/engines/pool.ts';
import { until } from '../../testing/until.ts';
import { deletePerson, migrateAccounts } from '../persons/person-table.ts';
import { createAdapterFactory } from './adapter.ts';
import { cleanUp } from './clean-up.ts';
import { createGrantEnder, endGrantsOfClient } from './end-grants.ts';
import { deleteAccessTokensOfClient } from './end-records.ts';
import { isRevokedNow } from './is-revoked.ts';
import { createRecordSeal } from './seal-record.ts';
import { insertUsedOnce, migrateAuthStorage } from './statements.ts';

const LIFETIME_S = 60;
const seal = createRecordSeal(parseMasterKey(randomBytes(32).toString('base64')));

const session = { jti: 's', kind: 'Session', uid: 'u', accountId: '7' };
const grant = { jti: 'g', kind: 'Grant', accountId: '7', clientId: 'web' };

const test = base
  .extend('connectionsMax', { scope: 'file' }, 8)
  .extend('ender', { scope: 'file' }, ({ pool }) => createGrantEnder({ pool, onEnded: async () => {} }))
  .extend('adapterOf', { scope: 'file' }, ({ ender, pool }) =>
    createAdapterFactory({ pool, seal, endGrant: ender.endGrant, findClient: async () => undefined }),
  )
  .extend('save', { scope: 'file' }, ({ adapterOf }) => (kind: 'Session' | 'Grant') => {
    const payload = kind === 'Session' ? session : grant;
    return adapterOf(kind).upsert(payload.jti, payload, LIFETIME_S);
  });
test.beforeAll(async ({ pool }) => {
  await migrateRevocations(pool);
  await migrateAuthStorage(pool);
  await migrateAccounts(pool);
});
test.beforeEach(async ({ pool }) => {
  await pool.query(
    'truncate auth.record, auth.device_poll, auth.used_once, auth.revoked, auth.person cascade',
  );
});

describe('a request that loaded a record before its end cannot restore it:', () => {
  type Ends = {
    readonly adapterOf: ReturnType<typeof createAdapterFactory>;
    readonly ender: ReturnType<typeof createGrantEnder>;
  };
  test.for<[string, (by: Ends) => Promise<unknown>]>([
    ['signs out', ({ adapterOf }) => adapterOf('Session').destroy('s')],
    ['is deleted', ({ ender }) => ender.endGrantsOfUser(7)],
  ])('a session whose user %s', async ([_, end], { adapterOf, ender, save }) => {
    await save('Session');
    await end({ adapterOf, ender });
    await save('Session');
    expect(await adapterOf('Session').find('s')).toBeUndefined();
    expect(await adapterOf('Session').findByUid('u')).toBeUndefined();
  });

  test.for<[string, (by: Ends) => Promise<unknown>]>([
    ['by itself', ({ adapterOf }) => adapterOf('Grant').destroy('g')],
    ['with its user', ({ ender }) => ender.endGrantsOfUser(7)],
    ['with its client', ({ ender }) => ender.endGrantsOfClient('web')],
  ])('a grant that ended %s; adding to it fails', async ([_, end], { adapterOf, ender, save }) => {
    await save('Grant');
    await end({ adapterOf, ender });
    await expect(save('Grant')).rejects.toThrow(errors.AccessDenied);
    expect(await adapterOf('Grant').find('g')).toBeUndefined();
  });

  test('a session that is being saved at the very moment of its end', async ({ adapterOf, save }) => {
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

describe('a request that began before the deletion of its person leaves nothing:', () => {
  const recordsOf = async (pool: Pool) =>
    (await pool.query("select kind from auth.record where account_id = '7'")).rows;

  test('a sign-in that ends after the deletion', async ({ ender, pool, save }) => {
    await deletePerson(pool, PERSON, 2 as Version);
    await ender.endGrantsOfUser(PERSON);
    await save('Session');
    await expect(save('Grant')).rejects.toThrow(errors.AccessDenied);
    expect(await recordsOf(pool)).toEqual([]);
  });

  test('a sign-in during the deletion', async ({ adapterOf, ender, pool, save }) => {
    await insertPerson(pool);
    await adapterOf('Session').upsert('s', { ...session, accountId: undefined }, LIFETIME_S);
    const connection = await pool.connect();
    try {
      await connection.query('begin');
      await deletePerson(connection, PERSON, 2 as Version);
      const saving = Promise.allSettled([save('Session'), save('Grant')]);
      await until(
        async () =>
          (
            await pool.query(
              `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            )
          ).rowCount,
        (waiting) => waiting === 2,
      );
      await connection.query('commit');
      await saving;
    } finally {
      connection.release();
    }
    await ender.endGrantsOfUser(PERSON);
    expect(await recordsOf(pool)).toEqual([]);
  });

  test('a sign-in before it is ended with all others', async ({ ender, pool, save }) => {
    await insertPerson(pool);
    await save('Session');
    await save('Grant');
    expect(await recordsOf(pool)).toHaveLength(2);
    await deletePerson(pool, PERSON, 2 as Version);
    await ender.endGrantsOfUser(PERSON);
    expect(await recordsOf(pool)).toEqual([]);
  });
});

const PERSON = 7 as UserId;

const insertPerson = (pool: Pool) =>
  pool.query(`insert into auth.person (user_id, role, status, version) values ($1, 'reader', 'active', 1)`, [
    PERSON,
  ]);

test('a session that gets a new secret keeps its public id', async ({ adapterOf, save }) => {
  await save('Session');
  await adapterOf('Session').destroy('s');
  await adapterOf('Session').upsert('renamed', { ...session, jti: 'renamed' }, LIFETIME_S);
  expect(await adapterOf('Session').findByUid('u')).toMatchObject({ jti: 'renamed' });
});

test('an ended record has no content, and is removed later', async ({ ender, pool, save }) => {
  await save('Session');
  await save('Grant');
  await ender.endGrantsOfUser(7);
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

  test('ends in the caller’s transaction, with all its tokens or not at all', async ({
    adapterOf,
    pool,
    save,
  }) => {
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

  test('loses its opaque access tokens, and nothing else', async ({ adapterOf, pool }) => {
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

test.for([1e13, 1e300])(
  'a value that is valid for %d seconds can be used once, too',
  async (expiresInS, { pool }) => {
    const digest = seal.hash('used once', 'endless');
    expect(await insertUsedOnce(pool, digest, expiresInS)).toBe(true);
    expect(await insertUsedOnce(pool, digest, expiresInS)).toBe(false);
  },
);
