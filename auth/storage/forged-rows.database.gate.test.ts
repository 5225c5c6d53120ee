// Over 200 lines, because it is one thing: each table whose rows let somebody act, changed by SQL.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { digestOfToken, newPersonalToken } from '#edge/authenticate/personal-token.ts';
import {
  PASSWORD,
  registerClient,
  registerPerson,
  serviceClient,
  type TestPerson,
  webClient,
} from '../../test/engines/auth-database.ts';
import { test as base } from '../../test/engines/auth-process.ts';
import { system } from '../../test/engines/command-side.ts';
import { basic, post, tokensByCode } from '../../test/engines/oauth.ts';
import { SIGN_UPS, settleSignUp } from '../accounts/sign-up-table.ts';
import { insertInvitation, selectInvitation } from '../invitations/invitation-table.ts';
import { insertReset, selectReset, takeReset } from '../password-reset/reset-table.ts';

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

test('an owner sees and revokes a token that does not count, whatever its name has become', async ({
  one,
  personalTokenOf,
  tokenOf,
}) => {
  const person = await registerPerson(one.auth);
  const { id } = await personalTokenOf(person);
  await one.auth.pool.query(`update auth.personal_token set sealed = '' where id = $1`, [id]);
  const headers = { Authorization: `Bearer ${await tokenOf(person)}` };
  const listed = await fetch(`${one.url}/account/tokens`, { headers });
  expect(await listed.json()).toMatchObject([{ id, name: '(unreadable)' }]);
  const revoked = await fetch(`${one.url}/account/tokens/${id}`, { method: 'DELETE', headers });
  expect(revoked.status).toBe(204);
});

test('a client that SQL inserts is unknown, and can be removed', async ({ one }) => {
  const { clientId } = await registerClient(one.auth, serviceClient);
  const { service } = one.auth;
  await one.auth.pool.query(
    `insert into auth.client select (json_populate_record(old, json_build_object('client_id', 'forged'))).*
     from auth.client as old where client_id = $1`,
    [clientId],
  );
  expect(await service.clients.find('forged')).toBeUndefined();
  const by = { caller: system, requestId: randomUUID() };
  await expect(service.clients.rotateSecret('forged', by)).rejects.toThrow(
    expect.objectContaining({ code: 'client_not_found' }),
  );
  await service.clients.remove('forged', undefined, by);
});

test.for<[string, string]>([
  ['secret', `secret_hash = sha256('own')`],
  ['scopes', `scopes = scopes || '{manage:clients}'`],
  ['service account', `service_account = service_account + 1`],
  ['redirect URIs', `redirect_uris = '{https://evil.test/}'`],
  ['method', `token_endpoint_auth_method = 'none'`],
  ['grants', `grant_types = grant_types || '{authorization_code}'`],
  ['keys', `jwks = '{"keys":[]}'`],
  ['subject of a certificate', `tls_client_auth_subject = 'CN=own'`],
  ['consent', 'first_party = true'],
  ['proof', 'proof = null'],
])('one whose %s SQL changes is unknown', async ([_, change], { one }) => {
  const service = await registerClient(one.auth, serviceClient);
  const form = { grant_type: 'client_credentials' };
  await one.auth.pool.query(`update auth.client set ${change} where client_id = $1`, [service.clientId]);
  expect((await post(one.auth, '/token', form, basic(service))).body).toMatchObject({
    error: 'invalid_client',
  });
});

test('nor is one enabled that was disabled', async ({ one }) => {
  const service = await registerClient(one.auth, { ...serviceClient, disabled: true });
  await one.auth.pool.query('update auth.client set disabled = false where client_id = $1', [
    service.clientId,
  ]);
  const { body } = await post(one.auth, '/token', { grant_type: 'client_credentials' }, basic(service));
  expect(body).toMatchObject({ error: 'invalid_client' });
});

test('a password that SQL replaces, or gives to somebody else, is none', async ({ one }) => {
  const [victim, attacker] = [await registerPerson(one.auth, 'admin'), await registerPerson(one.auth)];
  const { credentials } = one.auth.service;
  expect(await credentials.verify(victim.userId, PASSWORD)).toBe(true);
  for (const copied of ['phc = own.phc', 'phc = own.phc, proof = own.proof', 'phc = own.phc, proof = null']) {
    await one.auth.pool.query(
      `update auth.credential set ${copied} from auth.credential as own
       where auth.credential.user_id = $1 and own.user_id = $2`,
      [victim.userId, attacker.userId],
    );
    expect(await credentials.verify(victim.userId, PASSWORD)).toBe(false);
  }
  expect(await credentials.verify(attacker.userId, PASSWORD)).toBe(true);
  await credentials.set(victim.userId, PASSWORD);
  expect(await credentials.verify(victim.userId, PASSWORD)).toBe(true);
});

test('nor does a sign-up get the password that SQL has put there', async ({ one }) => {
  const { pool, rowProofs, service } = one.auth;
  const person = await registerPerson(one.auth);
  const writing = { database: pool, rowProofs };
  await pool.query('delete from auth.credential where user_id = $1', [person.userId]);
  const own = await service.credentials.hash('own');
  for (const [id, proof] of [
    ['forged', null],
    ['kept', rowProofs.of(SIGN_UPS, { id: 'kept', phc: own })],
  ]) {
    await pool.query('insert into auth.sign_up (id, phc, proof) values ($1, $2, $3)', [id, own, proof]);
    await settleSignUp(writing, String(id), person.userId);
    expect(await service.credentials.verify(person.userId, 'own')).toBe(id === 'kept');
  }
});

const LATER = new Date(Date.now() + 86_400_000);

test('a link for a new password that SQL gives to somebody else, or more time, is invalid', async ({
  one,
}) => {
  const { pool, rowProofs } = one.auth;
  const [victim, attacker] = [await registerPerson(one.auth, 'admin'), await registerPerson(one.auth)];
  const database = { database: pool, rowProofs };
  for (const [index, change] of [
    `user_id = ${victim.userId}`,
    `expires_at = expires_at + interval '1 day'`,
    'is_mailed = false',
    'proof = null',
  ].entries()) {
    const digest = Buffer.from(`reset ${index}`);
    await insertReset(database, { digest, userId: attacker.userId, expiresAt: LATER, isMailed: true });
    expect(await selectReset(database, digest)).toMatchObject({ userId: attacker.userId });
    await pool.query(`update auth.password_reset set ${change} where digest = $1`, [digest]);
    expect(await selectReset(database, digest)).toBeUndefined();
    expect(await takeReset(database, digest)).toBeUndefined();
  }
});

test('an invitation whose role or end SQL changes is invalid', async ({ one }) => {
  const { pool, rowProofs } = one.auth;
  const database = { database: pool, rowProofs };
  for (const [index, change] of [
    `role = 'admin'`,
    `expires_at = expires_at + interval '1 day'`,
    'proof = null',
  ].entries()) {
    const id = `invitation ${index}`;
    const digest = Buffer.from(id);
    const [sealed, emailHash] = [Buffer.from('sealed'), `hash ${index}`];
    await insertInvitation(database, { id, digest, sealed, role: 'author', expiresAt: LATER, emailHash });
    expect(await selectInvitation(database, digest)).toMatchObject({ id, role: 'author' });
    await pool.query(`update auth.invitation set ${change} where id = $1`, [id]);
    expect(await selectInvitation(database, digest)).toBeUndefined();
  }
});
