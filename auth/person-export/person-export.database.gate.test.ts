import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { createCodec } from '#shared/events/codec.ts';
import {
  registerClient,
  registerPerson,
  serviceClient,
  type TestPerson,
  webClient,
} from '../../test/engines/auth-database.ts';
import { test as base } from '../../test/engines/auth-process.ts';
import { allEvents } from '../../test/engines/command-side.ts';
import { basic, post, tokensByCode } from '../../test/engines/oauth.ts';
import { minutesLater } from '../../test/engines/own-account.ts';

const SCOPES = ['manage:accounts', 'manage:tokens'];

const test = base
  .extend('clientId', { scope: 'file' }, async ({ one }) => {
    const scopes = ['openid', ...SCOPES, 'read:articles'];
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
      async (token: string | null, path: string, method = 'POST') => {
        const headers = { ...(token !== null && { Authorization: `Bearer ${token}` }) };
        const response = await fetch(`${one.url}${path}`, { method, headers });
        const text = await response.text();
        return { status: response.status, text, body: text === '' ? {} : JSON.parse(text) };
      },
  )
  .extend('ada', { scope: 'file' }, ({ one }) => registerPerson(one.auth))
  .extend('adaToken', { scope: 'file' }, ({ ada, tokenOf }) => tokenOf(ada))
  .extend('admin', { scope: 'file' }, ({ one }) => registerPerson(one.auth, 'admin'))
  .extend('adminToken', { scope: 'file' }, ({ admin, tokenOf }) => tokenOf(admin));

test('a user gets everything about themself, with the ways to sign in and without secrets', async ({
  ada,
  adaToken,
  ask,
}) => {
  const token = await ask(adaToken, '/account/export');
  expect(token.status, token.text).toBe(200);
  const { sections, isComplete, by, userId } = token.body;
  expect({ isComplete, by, userId }).toEqual({
    isComplete: true,
    by: `user:${ada.userId}`,
    userId: ada.userId,
  });
  const recordsIn = (name: string) =>
    sections.find((section: { name: string }) => section.name === name)?.records;
  expect(recordsIn('account')).toMatchObject([{ user: ada.userId, status: 'active' }]);
  expect(recordsIn('password')).toHaveLength(1);
  expect(recordsIn('sessions-and-grants')).toContainEqual(expect.objectContaining({ kind: 'session' }));
  expect(recordsIn('events')).toContainEqual(
    expect.objectContaining({
      type: 'account.data_exported',
      by: 'the person',
      data: { userId: ada.userId, format: 'json' },
    }),
  );
  expect(token.text).not.toMatch(/argon2|"phc"|"sealed"|"digest"/);
});

test('an administrator gets it for a user, and the history of the user names the administrator', async ({
  ada,
  admin,
  adminToken,
  ask,
  one,
}) => {
  const { status, body } = await ask(adminToken, `/account/people/${ada.userId}/export`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ by: `user:${admin.userId}`, isComplete: true });
  const asked = (
    await allEvents({ ...one.auth, codec: createCodec({ ...one.auth, domain: publishing }) } as never)
  ).filter(({ type }) => type === 'account.data_exported');
  expect(asked.at(-1)).toMatchObject({
    data: { userId: ada.userId },
    metadata: { actor: `user:${admin.userId}` },
  });
});

test('nobody else gets it: by right, scope, kind of token and age of the sign-in', async ({
  ada,
  adaToken,
  adminToken,
  ask,
  one,
  tokenOf,
}) => {
  const other = await registerPerson(one.auth);
  const [others, own] = [`/account/people/${ada.userId}/export`, '/account/export'];
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const personal = async (session: string): Promise<string> => {
    const response = await fetch(`${one.url}/account/tokens`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'Script', scopes: ['manage:accounts'], expiresAt }),
    });
    return String(((await response.json()) as { token: string }).token);
  };
  const refusals: readonly (readonly [string | null, string, number, string])[] = [
    [null, others, 401, 'unauthenticated'],
    [null, own, 401, 'unauthenticated'],
    [await tokenOf(other), others, 403, 'forbidden'],
    [adaToken, others, 403, 'forbidden'],
    [await tokenOf(other, ['read:articles']), own, 403, 'insufficient_scope'],
    [await personal(adminToken), others, 403, 'forbidden'],
    [adminToken, '/account/people/77/export', 404, 'user_not_found'],
    [adminToken, '/account/people/x/export', 404, 'user_not_found'],
  ];
  for (const [token, path, status, code] of refusals) {
    const refused = await ask(token, path);
    expect([refused.status, refused.body.code], `${path} ${code}`).toEqual([status, code]);
  }
  expect((await ask(adaToken, own, 'GET')).status).toBe(405);
});

test('an old sign-in does not suffice, nor does a service, which never signs in', async ({
  ada,
  ask,
  clientId,
  one,
}) => {
  const sessionOf = async (role: 'author' | 'admin'): Promise<string> => {
    const client = { client_id: clientId, scope: `openid offline_access ${SCOPES.join(' ')}` };
    const { refresh_token } = await tokensByCode(one.auth, await registerPerson(one.auth, role), client);
    return String(refresh_token);
  };
  const [author, administrator] = [await sessionOf('author'), await sessionOf('admin')];
  const service = await registerClient(one.auth, {
    ...serviceClient,
    scopes: SCOPES,
    defaultScopes: SCOPES,
  });
  const { body } = await post(one.auth, '/token', { grant_type: 'client_credentials' }, basic(service));
  expect(await ask(String(body.access_token), '/account/export')).toMatchObject({
    status: 401,
    body: { code: 'sign_in_too_old' },
  });
  using _later = minutesLater(11);
  for (const [refreshToken, path] of [
    [author, '/account/export'],
    [administrator, `/account/people/${ada.userId}/export`],
  ] as const) {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
    const refreshed = (await post(one.auth, '/token', form)).body.access_token;
    const refused = await ask(String(refreshed), path);
    expect([refused.status, refused.body.code]).toEqual([401, 'sign_in_too_old']);
  }
});

test('repeated requests are limited', async ({ ask, one, tokenOf }) => {
  const token = await tokenOf(await registerPerson(one.auth));
  const statuses: number[] = [];
  for (let times = 0; times < 6; times += 1) statuses.push((await ask(token, '/account/export')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});

test('of parallel requests, one runs in a process', async ({ ask, one, tokenOf }) => {
  const token = await tokenOf(await registerPerson(one.auth));
  const statuses = await Promise.all([1, 2, 3].map(async () => (await ask(token, '/account/export')).status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
});
