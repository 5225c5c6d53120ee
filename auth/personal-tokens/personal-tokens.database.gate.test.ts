// Over 200 lines, because each case asks the two processes that are set up here.
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { isPersonalToken, newPersonalToken } from '#edge/authenticate/personal-token.ts';
import { realTimeAhead } from '#shared/clock/real-time.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import {
  ISSUER,
  registerClient,
  registerPerson,
  serviceClient,
  type TestPerson,
  webClient,
} from '../../test/engines/auth-database.ts';
import { type AuthProcess, test as base, openAuthProcess } from '../../test/engines/auth-process.ts';
import { system } from '../../test/engines/command-side.ts';
import { basic, post, tokensByCode } from '../../test/engines/oauth.ts';
import { minutesLater } from '../../test/engines/own-account.ts';
import { until } from '../../testing/until.ts';
import { createSecondFactors } from '../second-factor/second-factors.ts';
import { codeOf, SECRET_BYTES, stepAt } from '../second-factor/totp.ts';
import { createRecordSeal } from '../storage/seal-record.ts';
import { TOKENS_MAX } from '../storage/token-table.ts';

type Answer = { readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers };
type Made = { readonly id: string; readonly token: string };

const SCOPES = ['manage:tokens', 'read:articles', 'write:users', 'manage:clients', 'read:users'];
const WITHIN_MS = 3_000;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
/** In minutes. */
const AFTER_ITS_END = 30 * 24 * 60 + 1;
const wanted = { name: 'Nightly import', scopes: ['read:articles', 'manage:clients'], expiresAt: inDays(30) };

const test = base
  .extend('clientId', { scope: 'file' }, async ({ one }) => {
    const settings = {
      ...webClient,
      scopes: [...webClient.scopes, ...SCOPES.filter((scope) => scope !== 'read:articles')],
      firstParty: true,
    };
    return (await registerClient(one.auth, settings)).clientId;
  })
  .extend(
    'ask',
    { scope: 'file' },
    ({ one }) =>
      async (token: string, path: string, init: RequestInit = {}, at = one): Promise<Answer> => {
        const headers = {
          Authorization: `Bearer ${token}`,
          ...(init.body !== undefined && { 'Content-Type': 'application/json' }),
        };
        const response = await fetch(`${at.url}${path}`, { ...init, headers });
        const text = await response.text();
        return {
          status: response.status,
          headers: response.headers,
          body: text === '' ? {} : JSON.parse(text),
        };
      },
  )
  .extend(
    'tokensOf',
    { scope: 'file' },
    ({ clientId, one }) =>
      (person: TestPerson, scope = SCOPES.join(' '), recoveryCode?: string) =>
        tokensByCode(one.auth, { ...person, recoveryCode }, { client_id: clientId, scope }),
  )
  .extend(
    'accessTokenOf',
    { scope: 'file' },
    ({ tokensOf }) =>
      async (person: TestPerson, scope?: string, code?: string): Promise<string> =>
        String((await tokensOf(person, scope, code)).access_token),
  )
  /** Answers a recovery code. */
  .extend(
    'turnOnCodes',
    { scope: 'file' },
    ({ database, one }) =>
      async ({ userId }: TestPerson): Promise<string> => {
        const { pool, service } = one.auth;
        const { masterKey } = database;
        await using keys = await openPostgresKeyStore({ pool, masterKey });
        const factors = createSecondFactors({
          ...{ pool, keys, record: service.record },
          seal: createRecordSeal(masterKey),
        });
        const secret = randomBytes(SECRET_BYTES);
        const by = { actor: `user:${userId}`, client: null, requestId: randomUUID() } as const;
        const codes = await factors.turnOn(userId, { secret, code: codeOf(secret, stepAt(Date.now())) }, by);
        return codes[0] ?? '';
      },
  )
  .extend(
    'create',
    { scope: 'file' },
    ({ ask }) =>
      (token: string, body: object = wanted) =>
        ask(token, '/account/tokens', { method: 'POST', body: JSON.stringify(body) }),
  )
  .extend(
    'list',
    { scope: 'file' },
    ({ ask }) =>
      async (token: string) =>
        (await ask(token, '/account/tokens')).body as unknown as readonly Record<string, unknown>[],
  )
  .extend(
    'somebody',
    { scope: 'file' },
    ({ accessTokenOf, one }) =>
      async (role: 'author' | 'admin' = 'author') => {
        const person = await registerPerson(one.auth, role);
        return { person, token: await accessTokenOf(person) };
      },
  )
  .extend(
    'somebodyWithToken',
    { scope: 'file' },
    ({ create, somebody }) =>
      async (role: 'author' | 'admin' = 'author', body: object = wanted) => {
        const { person, token } = await somebody(role);
        return { person, session: token, made: (await create(token, body)).body as Made };
      },
  )
  .extend(
    'give',
    { scope: 'file' },
    ({ one }) =>
      (userId: TestPerson['userId'], role: 'author' | 'admin') =>
        one.auth.gateway.send(
          { type: 'UpdateUser', userId, role },
          { caller: system, requestId: randomUUID() },
        ),
  )
  /** Returns whether the token works with an administrator’s rights; it lacks the scope for managing tokens. */
  .extend(
    'isAdmin',
    { scope: 'file' },
    ({ ask, one }) =>
      async (token: string, at = one) =>
        (await ask(token, '/clients', {}, at)).status,
  )
  .extend(
    'introspectBy',
    { scope: 'file' },
    ({ one }) =>
      async (client: Parameters<typeof basic>[0], token: string) =>
        (await post(one.auth, '/introspect', { token }, basic(client))).body,
  )
  .extend('userInfo', { scope: 'file' }, ({ one }) => async (token: string) => {
    const response = await fetch(`${one.url}/userinfo`, { headers: { Authorization: `Bearer ${token}` } });
    return [response.status, await response.json(), response.headers.get('www-authenticate')];
  });

describe('a new token', () => {
  test('is returned once; the list has everything else', async ({ create, list, one, somebody }) => {
    const { person, token } = await somebody();
    const { status, body, headers } = await create(token);
    expect([status, headers.get('cache-control'), headers.get('location')]).toEqual([
      201,
      'no-store',
      `/account/tokens/${body.id}`,
    ]);
    expect(isPersonalToken(String(body.token))).toBe(true);
    const { token: secret, ...shown } = body;
    expect(await list(token)).toEqual([{ ...shown, lastUsedAt: null }]);
    expect(shown).toMatchObject({
      name: 'Nightly import',
      scopes: wanted.scopes,
      expiresAt: wanted.expiresAt,
    });
    const { rows } = await one.auth.pool.query('select * from auth.personal_token where user_id = $1', [
      person.userId,
    ]);
    const kept = JSON.stringify(rows);
    for (const hidden of [String(secret), String(secret).slice(11, 54), 'Nightly'])
      expect(kept).not.toContain(hidden);
  });

  test.for<[string, object]>([
    ['no scope', { scopes: [] }],
    ['a scope twice', { scopes: ['read:articles', 'read:articles'] }],
    ['a scope that there is not', { scopes: ['read:minds'] }],
    ['the scope for tokens', { scopes: ['manage:tokens'] }],
    ['no name', { name: ' ' }],
    ['no end', { expiresAt: undefined }],
    ['an end in the past', { expiresAt: inDays(-1) }],
    ['an end in more than a year', { expiresAt: inDays(366) }],
    ['a member that there is not', { userId: 1 }],
  ])('is refused with %s', async ([_, wrong], { create, somebody }) => {
    const { token } = await somebody();
    expect(await create(token, { ...wanted, ...wrong })).toMatchObject({
      status: 422,
      body: { code: 'invalid_request' },
    });
  });

  test('cannot have a scope that the caller lacks', async ({ accessTokenOf, create, one }) => {
    const token = await accessTokenOf(await registerPerson(one.auth), 'manage:tokens read:articles');
    expect(await create(token, { ...wanted, scopes: ['write:users'] })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
    expect(await create(await accessTokenOf(await registerPerson(one.auth), 'read:articles'))).toMatchObject({
      status: 403,
    });
  });

  test('needs a recent sign-in, as the challenge says', async ({ clientId, create, one, tokensOf }) => {
    const { refresh_token } = await tokensOf(await registerPerson(one.auth));
    using _ = minutesLater(11);
    const form = { grant_type: 'refresh_token', refresh_token: String(refresh_token), client_id: clientId };
    const { status, body, headers } = await create(
      String((await post(one.auth, '/token', form)).body.access_token),
    );
    expect([status, body.code]).toEqual([401, 'sign_in_too_old']);
    expect(headers.get('www-authenticate')).toMatch(
      /^Bearer error="insufficient_user_authentication", .*max_age="600"/,
    );
  });

  test('needs a sign-in with a code if the user has codes, also just after they turned them on', async ({
    accessTokenOf,
    create,
    one,
    turnOnCodes,
  }) => {
    const person = await registerPerson(one.auth);
    const byPassword = await accessTokenOf(person);
    const code = await turnOnCodes(person);
    const refused = await create(byPassword);
    expect([refused.status, refused.body.code]).toEqual([401, 'sign_in_too_old']);
    expect(await create(await accessTokenOf(person, SCOPES.join(' '), code))).toMatchObject({ status: 201 });
  });

  test('is refused to services, which never sign in', async ({ create, one }) => {
    const service = await registerClient(one.auth, {
      ...serviceClient,
      scopes: SCOPES,
      defaultScopes: SCOPES,
    });
    const { body } = await post(one.auth, '/token', { grant_type: 'client_credentials' }, basic(service));
    expect(await create(String(body.access_token))).toMatchObject({
      status: 401,
      body: { code: 'sign_in_too_old' },
    });
  });

  test('is refused over the limit, even to parallel requests', async ({ create, somebody }) => {
    const { token } = await somebody();
    const statuses = await Promise.all(
      Array.from({ length: TOKENS_MAX + 5 }, async () => (await create(token)).status),
    );
    expect(statuses.toSorted()).toEqual([...Array(TOKENS_MAX).fill(201), ...Array(5).fill(409)]);
  });
});

describe('a token', () => {
  test('works for its scopes, in the role of its user, under a client of its own', async ({
    ask,
    isAdmin,
    other,
    somebodyWithToken,
  }) => {
    const { made } = await somebodyWithToken('admin');
    expect(await isAdmin(made.token)).toBe(200);
    expect(await isAdmin(made.token, other)).toBe(200);
    expect(await ask(made.token, '/account/tokens')).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    });
  });

  test('never exceeds the role of its user', async ({ isAdmin, somebodyWithToken }) => {
    expect(await isAdmin((await somebodyWithToken('author')).made.token)).toBe(403);
  });

  test('follows the role of its user in every process', async ({
    give,
    isAdmin,
    one,
    other,
    somebodyWithToken,
  }) => {
    const { person, made } = await somebodyWithToken('author');
    const becomes = (status: number, at: AuthProcess) =>
      until(
        () => isAdmin(made.token, at),
        (found) => found === status,
        WITHIN_MS,
      );
    for (const at of [one, other]) expect(await isAdmin(made.token, at)).toBe(403);
    await give(person.userId, 'admin');
    for (const at of [one, other]) await becomes(200, at);
    await give(person.userId, 'author');
    for (const at of [one, other]) await becomes(403, at);
  });

  test('never has the former role once a process knows of the change', async ({
    give,
    isAdmin,
    somebodyWithToken,
  }) => {
    const { person, made } = await somebodyWithToken('admin');
    expect(await isAdmin(made.token)).toBe(200);
    await give(person.userId, 'author');
    await until(
      () => isAdmin(made.token),
      (found) => found === 403,
      WITHIN_MS,
    );
    const later = await Promise.all(Array.from({ length: 20 }, () => isAdmin(made.token)));
    expect(new Set(later)).toEqual(new Set([403]));
  });

  test.for<[string, () => string]>([
    ['one that there is not', () => newPersonalToken()],
    ['a wrong checksum', () => `annals_pat_${'a'.repeat(49)}`],
    ['a beginning alone', () => 'annals_pat_'],
  ])('is refused if it is %s', async ([_, token], { ask }) => {
    const { status, body, headers } = await ask(token(), '/account/tokens');
    expect([status, body.code, headers.get('content-type')]).toEqual([
      401,
      'invalid_token',
      'application/problem+json; charset=utf-8',
    ]);
  });

  test('expires', async ({ ask, isAdmin, somebodyWithToken }) => {
    const { made } = await somebodyWithToken('admin');
    expect(await isAdmin(made.token)).toBe(200);
    using _ = minutesLater(AFTER_ITS_END);
    const { body } = await ask(made.token, '/clients');
    expect(body).toMatchObject({ code: 'invalid_token', detail: 'The token has expired.' });
  });

  test('has the dates of its installation, which may be ahead', async ({ ask, database, somebody }) => {
    const { token } = await somebody('admin');
    const aheadMs = 400 * 86_400_000;
    await using ahead = await openAuthProcess(
      database,
      realTimeAhead(() => aheadMs),
    );
    const expiresAt = new Date(Date.now() + aheadMs + 86_400_000).toISOString();
    const body = JSON.stringify({ ...wanted, expiresAt });
    const made = await ask(token, '/account/tokens', { method: 'POST', body }, ahead);
    expect(made.status).toBe(201);
    expect((await ask(String(made.body.token), '/clients', {}, ahead)).status).toBe(200);
    const over = JSON.stringify({ ...wanted, expiresAt: inDays(399) });
    expect((await ask(token, '/account/tokens', { method: 'POST', body: over }, ahead)).status).toBe(422);
  });

  test('ends with its user', async ({ isAdmin, one, other, somebodyWithToken }) => {
    const { person, made } = await somebodyWithToken('admin');
    expect(await isAdmin(made.token, other)).toBe(200);
    await one.auth.gateway.send(
      { type: 'DeleteUser', userId: person.userId },
      { caller: system, requestId: randomUUID() },
    );
    await until(
      () => isAdmin(made.token, other),
      (status) => status === 401,
      WITHIN_MS,
    );
    const { rows } = await one.auth.pool.query('select from auth.personal_token where user_id = $1', [
      person.userId,
    ]);
    expect(rows).toEqual([]);
  });

  test('records its use rarely', async ({ database, isAdmin, list, somebodyWithToken }) => {
    const { made, session } = await somebodyWithToken('admin');
    const used = async () => (await list(session)).find(({ id }) => id === made.id)?.lastUsedAt;
    await isAdmin(made.token);
    const first = await until(used, (at) => typeof at === 'string');
    await using fresh = await openAuthProcess(database);
    await isAdmin(made.token, fresh);
    expect(await used()).toBe(first);
  });
});

describe('revoking', () => {
  test('ends one token in every process within seconds', async ({
    ask,
    create,
    isAdmin,
    list,
    one,
    other,
    somebodyWithToken,
  }) => {
    const { made, session } = await somebodyWithToken('admin');
    const kept = (await create(session)).body as Made;
    for (const at of [one, other]) expect(await isAdmin(made.token, at)).toBe(200);
    expect(await ask(session, `/account/tokens/${made.id}`, { method: 'DELETE' })).toMatchObject({
      status: 204,
    });
    for (const at of [one, other])
      await until(
        () => isAdmin(made.token, at),
        (status) => status === 401,
        WITHIN_MS,
      );
    expect(await isAdmin(kept.token)).toBe(200);
    expect((await list(session)).map(({ id }) => id)).toEqual([kept.id]);
    expect(await ask(session, `/account/tokens/${made.id}`, { method: 'DELETE' })).toMatchObject({
      status: 404,
      body: { code: 'token_not_found' },
    });
  });

  test('is for the owner only', async ({ ask, list, somebody, somebodyWithToken }) => {
    const { made, session } = await somebodyWithToken();
    const { token } = await somebody('admin');
    expect(await ask(token, `/account/tokens/${made.id}`, { method: 'DELETE' })).toMatchObject({
      status: 404,
    });
    expect(await list(session)).toHaveLength(1);
  });

  test('works while many requests use the token', async ({ ask, isAdmin, other, somebodyWithToken }) => {
    const { made, session } = await somebodyWithToken('admin');
    const revoking = ask(session, `/account/tokens/${made.id}`, { method: 'DELETE' });
    await Promise.all(Array.from({ length: 30 }, () => isAdmin(made.token, other)));
    await revoking;
    await until(
      () => isAdmin(made.token, other),
      (status) => status === 401,
      WITHIN_MS,
    );
    expect(await isAdmin(made.token, other)).toBe(401);
  });
});

describe('the endpoints of OAuth', () => {
  test('introspection states the token, until it is revoked', async ({
    ask,
    introspectBy,
    list,
    one,
    somebodyWithToken,
  }) => {
    const service = await registerClient(one.auth, serviceClient);
    const { person, made, session } = await somebodyWithToken();
    expect(await introspectBy(service, made.token)).toEqual({
      ...{ active: true, iss: ISSUER, aud: ISSUER, sub: String(person.userId), role: 'author' },
      ...{ scope: 'read:articles manage:clients', token_type: 'Bearer', jti: `annals-token:${made.id}` },
      iat: expect.any(Number),
      exp: Math.floor(Date.parse(wanted.expiresAt) / 1_000),
    });
    expect((await list(session)).map(({ lastUsedAt }) => lastUsedAt)).toEqual([null]);
    await ask(session, `/account/tokens/${made.id}`, { method: 'DELETE' });
    expect(await introspectBy(service, made.token)).toEqual({ active: false });
    expect(await introspectBy(service, newPersonalToken())).toEqual({ active: false });
  });

  test('introspection states the role that the owner has now, and nothing after the end', async ({
    give,
    introspectBy,
    one,
    somebodyWithToken,
  }) => {
    const service = await registerClient(one.auth, serviceClient);
    const { person, made } = await somebodyWithToken();
    await give(person.userId, 'admin');
    await until(
      () => introspectBy(service, made.token),
      ({ role }) => role === 'admin',
    );
    using _ = minutesLater(AFTER_ITS_END);
    expect(await introspectBy(service, made.token)).toEqual({ active: false });
  });

  test('introspection tells public clients nothing', async ({ clientId, one, somebodyWithToken }) => {
    const { made } = await somebodyWithToken();
    expect((await post(one.auth, '/introspect', { token: made.token, client_id: clientId })).status).toBe(
      401,
    );
  });

  test('no client revokes the token', async ({ clientId, isAdmin, one, somebodyWithToken }) => {
    const service = await registerClient(one.auth, serviceClient);
    const { made } = await somebodyWithToken('admin');
    expect((await post(one.auth, '/revoke', { token: made.token }, basic(service))).status).toBe(400);
    expect((await post(one.auth, '/revoke', { token: made.token, client_id: clientId })).status).toBe(200);
    expect(await isAdmin(made.token)).toBe(200);
  });

  test('/userinfo refuses it for its scope, like any other token without openid', async ({
    somebodyWithToken,
    userInfo,
  }) => {
    const { made, session } = await somebodyWithToken();
    const refused = await userInfo(made.token);
    expect(refused.slice(0, 2)).toMatchObject([403, { error: 'insufficient_scope', scope: 'openid' }]);
    expect(refused).toEqual(await userInfo(session));
    const unknown = await userInfo(newPersonalToken());
    expect(unknown.slice(0, 2)).toMatchObject([401, { error: 'invalid_token' }]);
  });
});

test('the log records tokens, without their secrets', async ({ ask, one, somebodyWithToken }) => {
  const { person, made, session } = await somebodyWithToken();
  await ask(session, `/account/tokens/${made.id}`, { method: 'DELETE' });
  const told: { type: string; data: string }[] = [];
  for await (const page of one.auth.eventLog.read(`account-${person.userId}` as never))
    told.push(...page.map(({ type, data }) => ({ type, data: JSON.stringify(data) })));
  expect(told.map(({ type }) => type)).toEqual(['account.token_created', 'account.token_revoked']);
  for (const { data } of told) {
    expect(data).toContain(made.id);
    expect(data).not.toContain('annals_pat_');
    expect(data).not.toContain('Nightly');
  }
});
