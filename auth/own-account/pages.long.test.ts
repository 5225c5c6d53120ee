import { beforeAll, describe, expect, test } from 'vitest';
import { titleOf } from '../../test/engines/account-visit.ts';
import {
  credentialsOf,
  minutesLater,
  type OwnAccount,
  openAccountFixture,
  openOwnAccount,
  type Somebody,
} from '../../test/engines/own-account.ts';
import { openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';

const accounts = openAccountFixture();

const PAGES = [
  '/account',
  '/account/profile',
  '/account/security',
  '/account/password',
  '/account/second-factor',
  '/account/applications',
  '/account/tokens',
  '/account/sessions',
  '/account/delete',
];

describe('a visit', () => {
  test('asks a signed-out visitor to sign in first, and then shows the page', async () => {
    const account = openOwnAccount(accounts.site);
    for (const path of PAGES) {
      const { status, location } = await account.browser.get(`${accounts.site.url}${path}`);
      expect([status, new URL(location ?? '').searchParams.get('state')]).toEqual([303, path]);
    }
    const signIn = await account.get('/account/profile');
    const first = await account.browser.follow(
      await account.send(signIn, credentialsOf(await accounts.aPerson())),
    );
    expect(new URL(first.url).pathname).toBe('/account/profile');
    for (const path of PAGES) {
      const page = await account.get(path);
      expect([page.status, new URL(page.url).pathname]).toEqual([200, path]);
      expect(page.headers.get('cache-control')).toContain('no-store');
      expect(page.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; /,
      );
    }
  });

  test('leads to no other page, whatever the address says', async () => {
    const { account } = await accounts.signedIn();
    for (const state of [
      'https://evil.example/',
      '//evil.example',
      '/account/../token',
      '/account//evil.example',
      '/sign-out',
      '',
    ]) {
      const { location } = await account.browser.get(
        `${accounts.site.url}/account/signed-in?code=x&state=${encodeURIComponent(state)}`,
      );
      expect(location, state).toBe(`${accounts.site.url}/account`);
    }
    const twice = await account.browser.get(
      `${accounts.site.url}/account/signed-in?state=/account/profile&state=/account`,
    );
    expect(twice.location).toBe(`${accounts.site.url}/account`);
  });

  test('can be cancelled', async () => {
    const account = openOwnAccount(accounts.site);
    const page = await account.fill('/account', { email: '', password: '', cancel: 'yes' });
    expect([page.status, titleOf(page)]).toEqual([403, 'You are not signed in']);
  });

  test('is not repeated after an application’s sign-in', async () => {
    const browser = openHandBrowser();
    const person = await accounts.aPerson();
    await browser.follow(
      await accounts.visit.signInWith(browser, await accounts.visit.begin(browser), credentialsOf(person)),
    );
    expect(titleOf(await openOwnAccount(accounts.site, browser).get('/account'))).toBe('Your account');
  });

  test('issues a code that nobody can use, and nobody controls the client', async () => {
    const account = openOwnAccount(accounts.site);
    const signIn = await account.get('/account');
    let answered = await account.send(signIn, credentialsOf(await accounts.aPerson()));
    while (!answered.location?.includes('code='))
      answered = await account.browser.get(answered.location ?? '');
    const code = new URL(answered.location).searchParams.get('code') ?? '';
    const form = {
      grant_type: 'authorization_code',
      client_id: 'annals-account',
      redirect_uri: `${accounts.site.url}/account/signed-in`,
      code,
    };
    const response = await fetch(`${accounts.site.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...form, code_verifier: 'x'.repeat(43) }),
    });
    expect(response.status).toBe(400);
    await expect(accounts.site.addClient('annals-account')).rejects.toMatchObject({
      code: 'client_id_taken',
    });
  });

  test('of a person without a password says so, and how to choose one', async () => {
    const { person, account } = await accounts.signedIn();
    await accounts.site.pool.query('delete from auth.credential where user_id = $1', [person.userId]);
    const { body } = await account.get('/account/security');
    expect(body).toContain('You have no password.');
    expect(body).toContain('<a href="/account/reset">');
  });

  test('of a deleted person ends', async () => {
    const { person, account } = await accounts.signedIn();
    await accounts.site.deletePerson(person.userId);
    await until(
      () => account.get('/account'),
      (page) => titleOf(page) === 'Sign in',
    );
  });
});

describe('every form', () => {
  const fields = { name: 'Mallory', email: 'mallory@example.com' };
  let person: Somebody;
  let account: OwnAccount;
  let other: OwnAccount;
  beforeAll(async () => {
    ({ person, account } = await accounts.signedIn());
    ({ account: other } = await accounts.signedIn());
  });

  test.each<[string, (page: Seen) => Promise<Seen>, number]>([
    ['without a token', ({ action }) => account.browser.post(action, fields), 400],
    ['with a wrong token', (page) => account.send(page, { ...fields, token: 'x'.repeat(43) }), 403],
    [
      'with the token of another page',
      async (page) => account.send(page, { ...fields, ...(await account.get('/account/password')).hidden }),
      403,
    ],
    [
      'with the token of another person',
      async (page) => account.send(page, { ...fields, ...(await other.get('/account/profile')).hidden }),
      403,
    ],
    ['from another site', (page) => account.send(page, fields, { 'sec-fetch-site': 'cross-site' }), 403],
    ['from another browser', (page) => openOwnAccount(accounts.site).send(page, fields), 303],
  ])('%s changes nothing', async (_what, send, status) => {
    expect((await send(await account.get('/account/profile'))).status).toBe(status);
    expect(await accounts.visit.eventOf('user.updated', person.userId)).toBeUndefined();
  });

  test('sent late asks for the password again, and shows the address', async () => {
    using _ = minutesLater(11);
    const again = await account.get('/account/profile');
    expect(titleOf(again)).toBe('Sign in');
    expect(again.body).toContain(`value="${person.email}"`);
    expect(titleOf(await account.get('/account/sessions'))).toBe('Sessions');
    const page = await account.browser.follow(await account.send(again, credentialsOf(person)));
    expect(new URL(page.url).pathname).toBe('/account/profile');
  });
});
