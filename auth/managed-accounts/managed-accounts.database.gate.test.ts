// Over 200 lines, because all cases ask the two processes that are set up here.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { ManagedAccount } from '#shared/rest/managed-accounts.ts';
import {
  ISSUER,
  registerClient,
  registerPerson,
  type TestPerson,
  webClient,
} from '../../test/engines/auth-database.ts';
import { test as base } from '../../test/engines/auth-process.ts';
import { post, tokensByCode } from '../../test/engines/oauth.ts';
import { until } from '../../testing/until.ts';
import { createRecordSeal } from '../storage/seal-record.ts';

const SCOPES = ['manage:accounts', 'manage:tokens', 'read:articles'];
const WITHIN_MS = 3_000;

const test = base
  .extend('clientId', { scope: 'file' }, async ({ one }) => {
    const scopes = ['openid', 'write:users', ...SCOPES];
    const { clientId } = await registerClient(one.auth, { ...webClient, scopes, firstParty: true });
    return clientId;
  })
  .extend(
    'tokenOf',
    { scope: 'file' },
    ({ clientId, one }) =>
      async (person: TestPerson, scopes: readonly string[] = SCOPES): Promise<string> => {
        const client = { client_id: clientId, scope: scopes.join(' ') };
        return String((await tokensByCode(one.auth, person, client)).access_token);
      },
  )
  .extend(
    'ask',
    { scope: 'file' },
    ({ one }) =>
      async (token: string, method: string, path: string, body?: object) => {
        const headers = {
          Authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        };
        const response = await fetch(`${one.url}${path}`, {
          method,
          headers,
          ...(body && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return {
          status: response.status,
          body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
        };
      },
  )
  .extend('admin', { scope: 'file' }, async ({ one, tokenOf }) =>
    tokenOf(await registerPerson(one.auth, 'admin')),
  )
  .extend(
    'accountOf',
    { scope: 'file' },
    ({ admin, ask }) =>
      async ({ userId }: TestPerson) =>
        (await ask(admin, 'GET', `/account/people/${userId}`)).body as unknown as ManagedAccount,
  )
  .extend('somebody', { scope: 'file' }, ({ ask, one, tokenOf }) => async () => {
    const person = await registerPerson(one.auth);
    const session = await tokenOf(person);
    const wanted = {
      name: 'Import',
      scopes: ['read:articles'],
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    };
    const made = (await ask(session, 'POST', '/account/tokens', wanted)).body;
    return { person, session, token: String(made.token), path: `/account/people/${person.userId}` };
  })
  .extend(
    'refusedSoon',
    { scope: 'file' },
    ({ ask }) =>
      (token: string) =>
        until(
          () => ask(token, 'GET', '/account/tokens'),
          ({ status }) => status === 401,
          WITHIN_MS,
        ),
  );

test('only an administrator sees how a person signs in and what acts for them', async ({
  accountOf,
  admin,
  ask,
  clientId,
  somebody,
}) => {
  const { person, session, path } = await somebody();
  expect(await accountOf(person)).toMatchObject({
    userId: person.userId,
    status: 'active',
    hasPassword: true,
    hasSecondFactor: false,
    passkeys: 0,
    sessions: [{ browser: expect.any(String) }],
    applications: [{ clientId, scopes: expect.arrayContaining(['read:articles']) }],
    tokens: [{ name: 'Import', lastUsedAt: null }],
  });
  expect(await ask(session, 'GET', path)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(await ask(session, 'POST', `${path}/deactivate`)).toMatchObject({ status: 403 });
  expect(await ask(admin, 'GET', '/account/people/999999999')).toMatchObject({
    status: 404,
    body: { code: 'user_not_found' },
  });
  expect(await ask(admin, 'PUT', path)).toMatchObject({ status: 405 });
});

test('an administrator ends a session, an application and a token of a person, each alone', async ({
  accountOf,
  admin,
  ask,
  clientId,
  refusedSoon,
  somebody,
}) => {
  const { person, session, token, path } = await somebody();
  const { sessions, tokens } = await accountOf(person);
  expect((await ask(admin, 'DELETE', `${path}/sessions/${sessions[0]?.id}`)).status).toBe(204);
  expect(await accountOf(person)).toMatchObject({
    sessions: [],
    applications: [{ clientId }],
    tokens: [{ name: 'Import' }],
  });
  expect((await ask(admin, 'DELETE', `${path}/tokens/${tokens[0]?.id}`)).status).toBe(204);
  await refusedSoon(token);
  expect((await ask(session, 'GET', '/account/tokens')).status).toBe(200);
  expect((await ask(admin, 'DELETE', `${path}/applications/${clientId}`)).status).toBe(204);
  await refusedSoon(session);
  expect(await accountOf(person)).toMatchObject({ sessions: [], applications: [], tokens: [] });
  // A repetition: it has already ended.
  expect((await ask(admin, 'DELETE', `${path}/tokens/${tokens[0]?.id}`)).status).toBe(204);
});

test('the console ends with the session of its browser, and other applications continue', async ({
  accountOf,
  admin,
  ask,
  one,
  refusedSoon,
  somebody,
}) => {
  const { person, session, path } = await somebody();
  const { sessions: others } = await accountOf(person);
  const inConsole = { client_id: 'console', redirect_uri: `${ISSUER}/console`, scope: SCOPES.join(' ') };
  const ended = await tokensByCode(one.auth, person, inConsole);
  const { sessions } = await accountOf(person);
  const inBrowser = sessions.find(({ id }) => !others.some((other) => other.id === id));
  const kept = await tokensByCode(one.auth, person, inConsole);
  const refresh = async (tokens: typeof ended) => {
    const form = { grant_type: 'refresh_token', client_id: 'console' };
    return post(one.auth, '/token', { ...form, refresh_token: String(tokens.refresh_token) });
  };
  expect((await ask(String(ended.access_token), 'GET', '/account/tokens')).status).toBe(200);
  expect((await ask(admin, 'DELETE', `${path}/sessions/${inBrowser?.id}`)).status).toBe(204);
  await refusedSoon(String(ended.access_token));
  expect(await refresh(ended)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  expect((await refresh(kept)).status).toBe(200);
  expect((await ask(session, 'GET', '/account/tokens')).status).toBe(200);
});

test('all access of a person ends in one request, also that of the administrator who asks', async ({
  accountOf,
  admin,
  ask,
  one,
  refusedSoon,
  somebody,
  tokenOf,
}) => {
  const { person, session, token, path } = await somebody();
  const inConsole = { client_id: 'console', redirect_uri: `${ISSUER}/console`, scope: SCOPES.join(' ') };
  const console_ = await tokensByCode(one.auth, person, inConsole);
  expect(await ask(admin, 'DELETE', `${path}/access`)).toMatchObject({
    status: 200,
    body: { sessions: 2, applications: 1, tokens: 1 },
  });
  for (const each of [session, token, String(console_.access_token)]) await refusedSoon(each);
  expect(await accountOf(person)).toMatchObject({ sessions: [], applications: [], tokens: [] });
  expect((await ask(admin, 'DELETE', `${path}/access`)).body).toMatchObject({ sessions: 0, applications: 0 });
  const chief = await registerPerson(one.auth, 'admin');
  const [own, other] = [await tokenOf(chief), await tokenOf(chief)];
  const ended = await ask(own, 'DELETE', `/account/people/${chief.userId}/access`);
  expect(ended).toMatchObject({ status: 200, body: { sessions: 2, applications: 1, tokens: 0 } });
  for (const each of [own, other]) await refusedSoon(each);
  expect((await ask(session, 'DELETE', `${path}/access`)).status).toBe(401);
});

test('all sessions of a person end with the console in them, and applications and tokens continue', async ({
  accountOf,
  admin,
  ask,
  clientId,
  one,
  refusedSoon,
  somebody,
}) => {
  const { person, session, path } = await somebody();
  const inConsole = { client_id: 'console', redirect_uri: `${ISSUER}/console`, scope: SCOPES.join(' ') };
  const console_ = await tokensByCode(one.auth, person, inConsole);
  expect(await ask(admin, 'DELETE', `${path}/sessions`)).toMatchObject({
    status: 200,
    body: { sessions: 2, applications: 0, tokens: 0 },
  });
  await refusedSoon(String(console_.access_token));
  expect((await ask(session, 'GET', '/account/tokens')).status).toBe(200);
  expect(await accountOf(person)).toMatchObject({
    sessions: [],
    applications: [{ clientId }],
    tokens: [{ name: 'Import' }],
  });
});

test('the console of an earlier release is bound to its session by its next use, or ends', async ({
  database,
  one,
  somebody,
}) => {
  const seal = createRecordSeal(database.masterKey);
  const inConsole = { client_id: 'console', redirect_uri: `${ISSUER}/console`, scope: SCOPES.join(' ') };
  const { person } = await somebody();
  const former = await tokensByCode(one.auth, person, inConsole);
  const { pool } = one.auth;
  /** Stores what that release stored: a refresh token that survives its session. */
  const { rows } = await pool.query<{ idHash: Buffer; sealed: Buffer }>(
    `select id_hash as "idHash", sealed from auth.record
     where kind = 'RefreshToken' and client_id = 'console' and account_id = $1`,
    [String(person.userId)],
  );
  for (const { idHash, sealed } of rows) {
    const { expiresWithSession, ...unbound } = seal.unseal('RefreshToken', idHash, sealed);
    expect(expiresWithSession).toBe(true);
    await pool.query(`update auth.record set sealed = $2 where kind = 'RefreshToken' and id_hash = $1`, [
      idHash,
      seal.seal('RefreshToken', idHash, unbound),
    ]);
  }
  const refresh = (tokens: typeof former) =>
    post(one.auth, '/token', {
      ...{ grant_type: 'refresh_token', client_id: 'console' },
      refresh_token: String(tokens.refresh_token),
    });
  const { status, body: next } = await refresh(former);
  expect(status).toBe(200);
  // As when it has expired.
  await pool.query(`delete from auth.record where kind = 'Session' and account_id = $1`, [
    String(person.userId),
  ]);
  expect(await refresh(next)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

describe('a deactivated account', () => {
  test('is refused with all its credentials, and works again once it is reactivated', async ({
    accountOf,
    admin,
    ask,
    refusedSoon,
    somebody,
    tokenOf,
  }) => {
    const { person, session, token, path } = await somebody();
    expect((await ask(token, 'GET', '/account/tokens')).status).toBe(403);
    expect((await ask(admin, 'POST', `${path}/deactivate`)).status).toBe(204);
    for (const each of [session, token]) await refusedSoon(each);
    await expect(tokenOf(person)).rejects.toThrow();
    expect(await accountOf(person)).toMatchObject({
      status: 'deactivated',
      sessions: [],
      tokens: [{ name: 'Import' }],
    });
    expect((await ask(admin, 'POST', `${path}/reactivate`)).status).toBe(204);
    expect((await accountOf(person)).status).toBe('active');
    expect((await ask(token, 'GET', '/account/tokens')).status).toBe(403);
    expect(await tokenOf(person)).toMatch(/\./);
  });

  test('cannot be an administrator’s', async ({ admin, ask, one }) => {
    const { userId } = await registerPerson(one.auth, 'admin');
    const refused = await ask(admin, 'POST', `/account/people/${userId}/deactivate`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'account_of_administrator' } });
  });

  test('cannot be that of an administrator of whom the directory has not read yet', async ({
    admin,
    ask,
    one,
  }) => {
    const { userId } = await registerPerson(one.auth);
    const behind = await one.auth.pool.connect();
    try {
      // The directory waits for this lock before it writes the new role.
      await behind.query('begin');
      await behind.query(`select pg_advisory_xact_lock(hashtextextended('auth.person', $1))`, [userId]);
      await one.auth.gateway.send(
        { type: 'UpdateUser', userId, role: 'admin' },
        { caller: { kind: 'system', name: 'test' }, requestId: randomUUID() },
      );
      expect(await ask(admin, 'POST', `/account/people/${userId}/deactivate`)).toMatchObject({
        status: 409,
        body: { code: 'account_of_administrator' },
      });
    } finally {
      await behind.query('rollback');
      behind.release();
    }
  });

  test('is in the log, with the person who did it', async ({ admin, ask, one, somebody }) => {
    const { person, path } = await somebody();
    await ask(admin, 'POST', `${path}/deactivate`);
    await ask(admin, 'POST', `${path}/deactivate`);
    await ask(admin, 'POST', `${path}/reactivate`);
    const told: (readonly [string, unknown])[] = [];
    for await (const page of one.auth.eventLog.read(`account-${person.userId}` as never))
      told.push(...page.map(({ type, metadata }) => [type, metadata.actor] as const));
    expect(told.map(([type]) => type)).toEqual([
      'account.token_created',
      'account.deactivated',
      'account.reactivated',
    ]);
    expect(told[1]?.[1]).toMatch(/^user:\d+$/);
    expect(told[1]?.[1]).not.toBe(`user:${person.userId}`);
  });
});

test('an administrator invites a person, and revokes it', async ({ admin, ask, somebody }) => {
  const email = `${randomUUID()}@example.com`;
  const made = await ask(admin, 'POST', '/account/invitations', { email, role: 'author' });
  expect(made).toMatchObject({
    status: 201,
    body: { email, role: 'author', link: expect.stringContaining('/account/invited?link=') },
  });
  const open = (await ask(admin, 'GET', '/account/invitations')).body as unknown as readonly {
    id: string;
    email: string;
  }[];
  const { id } = open.find((each) => each.email === email) ?? { id: '' };
  expect((await ask(admin, 'DELETE', `/account/invitations/${id}`)).status).toBe(204);
  expect((await ask(admin, 'GET', '/account/invitations')).body).not.toContainEqual(
    expect.objectContaining({ email }),
  );
  const { person } = await somebody();
  expect(
    await ask(admin, 'POST', '/account/invitations', { email: person.email, role: 'author' }),
  ).toMatchObject({ status: 409 });
  expect(await ask(admin, 'POST', '/account/invitations', { email, role: 'king' })).toMatchObject({
    status: 422,
  });
});

test('an invitation to a higher role needs the scope that changes roles', async ({
  admin,
  ask,
  one,
  tokenOf,
}) => {
  const invite = (token: string, role: string) =>
    ask(token, 'POST', '/account/invitations', { email: `${randomUUID()}@example.com`, role });
  expect(await invite(admin, 'admin')).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
  const roleGiver = await tokenOf(await registerPerson(one.auth, 'admin'), [...SCOPES, 'write:users']);
  expect(await invite(roleGiver, 'admin')).toMatchObject({ status: 201 });
});
