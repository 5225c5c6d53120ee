// Over 200 lines, because every case signs with the authenticator that is set up here.
import { describe, expect, test } from 'vitest';
import { from, password, titleOf, verifier } from '../../test/engines/account-visit.ts';
import { openAuthenticator, passkeyFormIn } from '../../test/engines/authenticator.ts';
import {
  minutesLater,
  type OwnAccount,
  openAccountFixture,
  openOwnAccount,
} from '../../test/engines/own-account.ts';
import { passkeyVisits } from '../../test/engines/passkey-visits.ts';
import { setUpCodes } from '../../test/engines/second-factor.ts';
import type { Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import { removePasskeysOf } from './passkeys.ts';

const accounts = openAccountFixture({ isNamed: true });
const { send, withPasskey, signInBy } = passkeyVisits(accounts);

describe('a passkey', () => {
  test('is added with a name, and signs in without user name and password', async () => {
    const { person, account, key } = await withPasskey();
    const list = (await account.get('/account/passkeys')).body;
    expect([list.includes('<h2>Key ring</h2>'), list.includes('Not used yet')]).toEqual([true, true]);
    const { account: elsewhere, answer } = await signInBy(key);
    const home = await elsewhere.browser.follow(answer);
    expect([titleOf(home), home.body.includes(person.email)]).toEqual(['Your account', true]);
    expect((await account.get('/account/passkeys')).body).toContain('Last used on');
    expect((await account.get('/account/security')).body).toContain('One, last used on');
    expect(await accounts.visit.eventOf('account.passkey_added', person.userId)).toMatchObject({
      metadata: { actor: `user:${person.userId}` },
    });
  });

  test('suffices even if codes are required after a password, and is recorded as a passkey', async () => {
    const { person, account, key } = await withPasskey();
    await setUpCodes(account);
    const { account: elsewhere, answer } = await signInBy(key);
    expect(titleOf(await elsewhere.browser.follow(answer))).toBe('Your account');
    await until(
      () => accounts.visit.eventsOf('session.signed_in', person.userId),
      (events) => events.some(({ data }) => (data as { method?: string }).method === 'passkey'),
    );
  });

  test('is renamed and removed by its owner only', async () => {
    const { person, account, key } = await withPasskey();
    const { account: other } = await accounts.signedIn();
    const { rows } = await accounts.site.pool.query<{ id: string }>(
      'select id from auth.passkey where user_id = $1',
      [person.userId],
    );
    const id = rows[0]?.id ?? '';
    const theirs = passkeyFormIn((await other.get('/account/passkeys')).body).fields;
    for (const fields of [{ do: 'remove' }, { do: 'rename', name: 'Mine now' }])
      await other.browser.post(
        `${accounts.site.url}/account/passkeys`,
        { token: theirs.token ?? '', id, ...fields },
        from(),
      );
    const page = await account.get('/account/passkeys');
    expect(page.body).toContain('<h2>Key ring</h2>');
    const { token = '' } = passkeyFormIn(page.body).fields;
    const change = async (fields: Record<string, string>) =>
      account.browser.follow(
        await account.browser.post(`${accounts.site.url}/account/passkeys`, { token, id, ...fields }, from()),
      );
    expect((await change({ do: 'rename', name: ' Blue key ' })).body).toContain('<h2>Blue key</h2>');
    const nameless = await change({ do: 'rename', name: ' '.repeat(3) });
    expect([nameless.status, nameless.body.includes('<a href="#rename">')]).toEqual([422, true]);
    expect(nameless.body).toMatch(/value=" {3}" aria-label="New name of Blue key" id="rename"/);
    const long = await change({ do: 'add', ticket: '', credential: '', name: 'x'.repeat(101) });
    expect([
      long.status,
      long.body.includes('<a href="#name">'),
      long.body.includes(`value="${'x'.repeat(101)}"`),
    ]).toEqual([422, true, true]);
    expect((await change({ do: 'remove' })).body).toContain('The passkey was removed');
    expect((await signInBy(key)).answer.status).toBe(422);
    expect(await accounts.visit.eventOf('account.passkey_removed', person.userId)).toMatchObject({
      data: { passkeyId: id },
    });
  });

  test('is kept if it is the only way to sign in, also of two that are removed at once', async () => {
    const { person, account } = await withPasskey();
    const { pool, url } = accounts.site;
    const page = await account.get('/account/passkeys');
    const added = await send(account, page, openAuthenticator(url).create(passkeyFormIn(page.body).options), {
      name: 'Second key',
    });
    expect(added.status).toBe(303);
    await pool.query('delete from auth.credential where user_id = $1', [person.userId]);
    const { rows } = await pool.query<{ id: string }>('select id from auth.passkey where user_id = $1', [
      person.userId,
    ]);
    expect(rows).toHaveLength(2);
    const { token = '' } = passkeyFormIn((await account.get('/account/passkeys')).body).fields;
    const answers = await Promise.all(
      rows.map(({ id }) =>
        account.browser.post(`${url}/account/passkeys`, { token, id, do: 'remove' }, from()),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409]);
    const kept = answers.find(({ status }) => status === 409);
    expect(kept?.body).toContain(
      'This passkey is your only way to sign in. Choose a password or add another passkey first.',
    );
    const left = await pool.query('select from auth.passkey where user_id = $1', [person.userId]);
    expect(left.rowCount).toBe(1);
  });

  test('is removed by an operator, with all others of the account', async () => {
    const { person, key } = await withPasskey();
    const { key: other } = await withPasskey();
    const { pool, auth } = accounts.site;
    const by = { actor: 'system:command-line', client: null, requestId: 'r-1' } as const;
    expect(await removePasskeysOf({ pool, record: auth.record }, person.userId, by)).toBe(true);
    expect(await removePasskeysOf({ pool, record: auth.record }, person.userId, by)).toBe(false);
    expect(await accounts.visit.eventOf('account.passkey_removed', person.userId)).toMatchObject({
      metadata: { actor: by.actor },
    });
    expect((await signInBy(key)).answer.status).toBe(422);
    expect((await signInBy(other)).answer.status).toBe(303);
  });

  test('is stored without anything that identifies its owner or itself', async () => {
    const { person, key } = await withPasskey();
    const { rows } = await accounts.site.pool.query<{ row: string }>(
      `select passkey::text || encode(sealed, 'escape') as row from auth.passkey where user_id = $1`,
      [person.userId],
    );
    expect(rows).toHaveLength(1);
    for (const { row } of rows)
      for (const secret of ['Key ring', key.credentialId]) expect(row).not.toContain(secret);
  });

  test('is erased with the person', async () => {
    const { person, key } = await withPasskey();
    await accounts.site.deletePerson(person.userId);
    await until(
      () => accounts.site.pool.query('select from auth.passkey where user_id = $1', [person.userId]),
      ({ rowCount }) => rowCount === 0,
    );
    expect((await signInBy(key)).answer.status).toBe(422);
  });

  test('cannot be changed without a recent sign-in', async () => {
    const { account } = await withPasskey();
    using _ = minutesLater(11);
    expect(titleOf(await account.get('/account/passkeys'))).toBe('Sign in');
  });
});

describe('the sign-in page', () => {
  test('is the same for everybody, whoever has passkeys, and runs one script', async () => {
    const { person } = await withPasskey();
    const account = openOwnAccount(accounts.site);
    const asked = [];
    for (const hint of [person.email, 'nobody@example.com']) {
      const page = await account.browser.follow(
        await account.browser.get(accounts.visit.authorizeUrl({ login_hint: hint })),
      );
      const { challenge, ...options } = passkeyFormIn(page.body).options;
      asked.push(options);
      expect(challenge).toMatch(/^[\w-]{43}$/);
      expect(page.headers.get('content-security-policy')).toContain(
        `script-src ${accounts.site.url}/account/passkey.js; `,
      );
      expect(page.body.match(/<script/g)).toHaveLength(1);
      const scriptUrl = /<script src="([^"]+)" type="module"><\/script>/.exec(page.body)?.[1] ?? '';
      const script = await fetch(scriptUrl);
      expect([script.status, script.headers.get('content-type')]).toEqual([
        200,
        'text/javascript; charset=utf-8',
      ]);
      expect(script.headers.get('cache-control')).toContain('immutable');
      expect((await fetch(`${scriptUrl}x`)).headers.get('cache-control')).toBe('no-store');
    }
    expect(asked[0]).toEqual({ rpId: 'localhost', timeout: 300_000, userVerification: 'required' });
    expect(asked[1]).toEqual(asked[0]);
  });

  test('tells clients how the user signed in', async () => {
    const { key } = await withPasskey();
    const amrOf = async (signIn: (account: OwnAccount, page: Seen) => Promise<Seen>) => {
      const account = openOwnAccount(accounts.site);
      const page = await account.browser.follow(
        await account.browser.get(accounts.visit.authorizeUrl({ client_id: 'annals-app', scope: 'openid' })),
      );
      let seen = await signIn(account, page);
      while (seen.location?.startsWith(accounts.site.url)) seen = await account.browser.get(seen.location);
      return claimsFor(new URL(seen.location ?? '').searchParams.get('code') ?? '');
    };
    const byPasskey = await amrOf((account, page) =>
      send(account, page, key.get(passkeyFormIn(page.body).options)),
    );
    expect(byPasskey).toMatchObject({ amr: ['hwk', 'user', 'mfa'] });
    const person = await accounts.aPerson();
    const byPassword = await amrOf((account, page) => account.send(page, { email: person.email, password }));
    expect(byPassword).toMatchObject({ amr: ['pwd'] });
  });
});

/** The claims of the ID token for which the code is exchanged. */
const claimsFor = async (code: string): Promise<unknown> => {
  const form = {
    grant_type: 'authorization_code',
    client_id: 'annals-app',
    redirect_uri: `${accounts.site.appUrl}/callback`,
    code,
  };
  const response = await fetch(`${accounts.site.url}/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...form, code_verifier: verifier }),
  });
  const { id_token: token = '' } = (await response.json()) as { id_token?: string };
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}');
};
