import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { migrateRevocations } from '#edge/authenticate/revocations.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { test as base } from '../../test/engines/pool.ts';
import { migrateAccounts } from '../persons/person-table.ts';
import { createAdapterFactory } from '../storage/adapter.ts';
import { createEndAccess } from '../storage/end-access.ts';
import { createRecordSeal } from '../storage/seal-record.ts';
import { migrateAuthStorage } from '../storage/statements.ts';
import { allSessions, end, everything } from './end-access.ts';

const LIFETIME_S = 60;
const seal = createRecordSeal(parseMasterKey(randomBytes(32).toString('base64')));
const userId = 7 as UserId;
const by = { actor: 'user:7', client: null, requestId: 'r' } as const;

const test = base
  .extend('adapterOf', { scope: 'file' }, ({ pool }) =>
    createAdapterFactory({ pool, seal, endGrant: async () => {}, findClient: async () => undefined }),
  )
  .extend('session', { scope: 'file' }, ({ adapterOf }) => async (uid: string, consoleGrant?: string) => {
    const authorizations = consoleGrant && { console: { grantId: consoleGrant } };
    const payload = { jti: `j-${uid}`, kind: 'Session', uid, accountId: '7', authorizations };
    await adapterOf('Session').upsert(payload.jti, payload as never, LIFETIME_S);
  })
  .extend('grant', { scope: 'file' }, ({ adapterOf }) => async (jti: string, clientId: string) => {
    await adapterOf('Grant').upsert(jti, { jti, kind: 'Grant', accountId: '7', clientId }, LIFETIME_S);
  })
  .extend('left', { scope: 'file' }, ({ adapterOf, pool }) => async (...grants: readonly string[]) => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::integer as count from auth.record where kind = 'Session' and ended_at is null`,
    );
    const found = await Promise.all(grants.map(async (id) => [id, await adapterOf('Grant').find(id)]));
    return { sessions: rows[0]?.count, grants: found.flatMap(([id, grant]) => (grant ? [id] : [])) };
  });
test.beforeAll(async ({ pool }) => {
  await migrateRevocations(pool);
  await migrateAuthStorage(pool);
  await migrateAccounts(pool);
});
test.beforeEach(async ({ pool }) => {
  await pool.query('truncate auth.record, auth.revoked');
});

const recorded = () => {
  const types: string[] = [];
  const record = async ({ type }: { readonly type: string }) => void types.push(type);
  return { types, record };
};

test('all sessions end, however many there are', async ({ left, pool, session }) => {
  for (let each = 0; each < 501; each += 1) await session(`u${each}`);
  const { types, record } = recorded();
  const ended = await end(
    { endAccess: createEndAccess({ pool, seal }), record },
    { userId, by },
    everything(),
  );
  expect([ended.sessions.length, types.length, await left()]).toEqual([
    501,
    501,
    { sessions: 0, grants: [] },
  ]);
});

test('what the log refuses to record has ended all the same', async ({ grant, left, pool, session }) => {
  await session('u', 'g');
  await grant('g', 'console');
  await grant('a', 'reading-list');
  const record = () => Promise.reject(new Error('not now'));
  const deps = { endAccess: createEndAccess({ pool, seal }), record };
  await expect(end(deps, { userId, by }, everything())).rejects.toThrow('not now');
  expect(await left('g', 'a')).toEqual({ sessions: 0, grants: [] });
});

test('with the other sessions, each console outside of the kept one ends, and no application', async ({
  grant,
  left,
  pool,
  session,
}) => {
  await session('here', 'h');
  await session('there', 't');
  // That of an earlier release, whose session is gone.
  for (const id of ['h', 't', 'lost']) await grant(id, 'console');
  await grant('a', 'reading-list');
  const { types, record } = recorded();
  const deps = { endAccess: createEndAccess({ pool, seal }), record };
  await end(deps, { userId, by }, allSessions('here'));
  expect(await left('h', 't', 'lost', 'a')).toEqual({ sessions: 1, grants: ['h', 'a'] });
  expect(types).toEqual(['session.signed_out', 'grant.revoked', 'grant.revoked']);
  await end(deps, { userId, by }, allSessions('here'));
  expect(types).toHaveLength(3);
});

test('signing out of a session of an earlier release ends the console too, and no other application', async ({
  adapterOf,
}) => {
  const authorizations = {
    console: { grantId: 'g', persistsLogout: true },
    'reading-list': { grantId: 'a', persistsLogout: true },
  };
  const payload = { jti: 'former', kind: 'Session', uid: 'former', accountId: '7', authorizations };
  await adapterOf('Session').upsert('former', payload as never, LIFETIME_S);
  const bound = { ...authorizations, console: { grantId: 'g' } };
  expect((await adapterOf('Session').find('former'))?.authorizations).toEqual(bound);
  expect((await adapterOf('Session').findByUid('former'))?.authorizations).toEqual(bound);
});
