import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import {
  registerClient,
  registerPerson,
  type TestPerson,
  webClient,
} from '../../test/engines/auth-database.ts';
import { test as base, openAuthProcess } from '../../test/engines/auth-process.ts';
import { system } from '../../test/engines/command-side.ts';
import { tokensByCode } from '../../test/engines/oauth.ts';
import { until } from '../../testing/until.ts';

const SCOPES = ['openid', 'read:articles', 'manage:tokens', 'manage:clients'];

const test = base
  .extend('tokenOf', { scope: 'file' }, async ({ one }) => {
    const { clientId } = await registerClient(one.auth, { ...webClient, scopes: SCOPES, firstParty: true });
    return async (person: TestPerson): Promise<string> =>
      String(
        (await tokensByCode(one.auth, person, { client_id: clientId, scope: SCOPES.join(' ') })).access_token,
      );
  })
  .extend('personalTokenOf', { scope: 'file' }, ({ one }) => async (session: string): Promise<string> => {
    const response = await fetch(`${one.url}/account/tokens`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${session}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        name: 'Import',
        scopes: ['manage:clients'],
        expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      }),
    });
    return String(((await response.json()) as { token: string }).token);
  })
  .extend('statusOf', { scope: 'file' }, () => async (token: string, url: string): Promise<number> => {
    const response = await fetch(`${url}/clients`, { headers: { Authorization: `Bearer ${token}` } });
    return response.status;
  })
  .extend(
    'makeAdmin',
    { scope: 'file' },
    ({ one }) =>
      ({ userId }: TestPerson, version = 1) =>
        one.auth.pool.query(`update auth.person set role = 'admin', version = $2 where user_id = $1`, [
          userId,
          version,
        ]),
  );

test('a role that SQL writes gives no rights to access tokens', async ({
  makeAdmin,
  one,
  statusOf,
  tokenOf,
}) => {
  const person = await registerPerson(one.auth);
  await makeAdmin(person);
  expect(await statusOf(await tokenOf(person), one.url)).toBe(403);
  await makeAdmin(person, 9);
  expect(await statusOf(await tokenOf(person), one.url)).toBe(403);
});

test('nor to personal access tokens, in any process', async ({
  database,
  makeAdmin,
  one,
  personalTokenOf,
  statusOf,
  tokenOf,
}) => {
  const person = await registerPerson(one.auth);
  const token = await personalTokenOf(await tokenOf(person));
  await makeAdmin(person);
  await using fresh = await openAuthProcess(database);
  expect(await statusOf(token, one.url)).toBe(403);
  expect(await statusOf(token, fresh.url)).toBe(403);
});

test('nor does a former role that SQL brings back', async ({
  database,
  makeAdmin,
  one,
  statusOf,
  tokenOf,
}) => {
  const person = await registerPerson(one.auth, 'admin');
  expect(await statusOf(await tokenOf(person), one.url)).toBe(200);
  await one.auth.gateway.send(
    { type: 'UpdateUser', userId: person.userId, role: 'author' },
    { caller: system, requestId: randomUUID() },
  );
  const versionOf = async (userId: UserId) => (await one.auth.service.persons.byId(userId))?.version;
  await until(
    () => versionOf(person.userId),
    (version) => version === 2,
  );
  await makeAdmin(person);
  await using fresh = await openAuthProcess(database);
  expect((await fresh.auth.service.persons.byId(person.userId))?.role).toBe('author');
});

test('an address that SQL gives to another user finds nobody', async ({ one }) => {
  const [person, victim] = [await registerPerson(one.auth), await registerPerson(one.auth, 'admin')];
  const { rows } = await one.auth.pool.query<{ email_hash: string }>(
    'select email_hash from auth.person where user_id = $1',
    [person.userId],
  );
  await one.auth.pool.query('update auth.person set email_hash = null where user_id = $1', [person.userId]);
  await one.auth.pool.query('update auth.person set email_hash = $2 where user_id = $1', [
    victim.userId,
    rows[0]?.email_hash,
  ]);
  expect(await one.auth.service.persons.byEmail(person.email)).toBeUndefined();
});
