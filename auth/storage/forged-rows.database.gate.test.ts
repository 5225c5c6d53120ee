import { expect } from 'vitest';
import { digestOfToken, newPersonalToken } from '#shared/http/authenticate/personal-token.ts';
import {
  registerClient,
  registerPerson,
  type TestPerson,
  webClient,
} from '../../test/engines/auth-database.ts';
import { test as base } from '../../test/engines/auth-process.ts';
import { tokensByCode } from '../../test/engines/oauth.ts';

const SCOPES = ['openid', 'read:articles', 'manage:tokens', 'manage:clients'];

type Made = { readonly id: string; readonly token: string };

/** Each test does what somebody can do who writes SQL and lacks the master key. */
const test = base
  .extend('tokenOf', { scope: 'file' }, async ({ one }) => {
    const { clientId } = await registerClient(one.auth, { ...webClient, scopes: SCOPES, firstParty: true });
    return async (person: TestPerson): Promise<string> =>
      String(
        (await tokensByCode(one.auth, person, { client_id: clientId, scope: SCOPES.join(' ') })).access_token,
      );
  })
  .extend(
    'personalTokenOf',
    { scope: 'file' },
    ({ one, tokenOf }) =>
      async (person: TestPerson, scopes = ['manage:clients']) => {
        const response = await fetch(`${one.url}/account/tokens`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${await tokenOf(person)}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({
            name: 'Import',
            scopes,
            expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
          }),
        });
        return (await response.json()) as Made;
      },
  )
  .extend('statusOf', { scope: 'file' }, ({ one }) => async (token: string): Promise<number> => {
    const response = await fetch(`${one.url}/clients`, { headers: { Authorization: `Bearer ${token}` } });
    return response.status;
  });

test('a personal access token that SQL inserts is unknown', async ({ one, personalTokenOf, statusOf }) => {
  const admin = await registerPerson(one.auth, 'admin');
  const { id } = await personalTokenOf(admin);
  const own = newPersonalToken();
  await one.auth.pool.query(
    `insert into auth.personal_token select (json_populate_record(old, json_build_object('id', 'forged', 'digest', $2::bytea))).*
     from auth.personal_token as old where id = $1`,
    [id, Buffer.from(digestOfToken(own), 'base64url')],
  );
  expect(await statusOf(own)).toBe(401);
});

test.for<[string, string]>([
  ['user', `user_id = (select user_id from auth.person where role = 'admin' limit 1)`],
  ['scopes', `scopes = '{read:articles,manage:clients}'`],
  ['end', `expires_at = expires_at + interval '30 days'`],
  ['name', `sealed = ''`],
  ['proof', 'proof = null'],
])('one whose %s SQL changes is unknown', async ([_, change], { one, personalTokenOf, statusOf }) => {
  await registerPerson(one.auth, 'admin');
  const person = await registerPerson(one.auth);
  const { id, token } = await personalTokenOf(person);
  await one.auth.pool.query(`update auth.personal_token set ${change} where id = $1`, [id]);
  expect(await statusOf(token)).toBe(401);
});
