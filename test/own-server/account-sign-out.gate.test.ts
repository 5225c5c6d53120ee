import { describe, expect } from 'vitest';
import { openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import { anAddress, test as base, password, titleOf, type Visitor } from '../engines/account-visit.ts';
import { openAccountsSite } from '../engines/accounts-site.ts';

// Own server: it reads the events of sign-outs from the log.

const test = base.extend('signedIn', ({ browser, signIn }) => async () => {
  const consent = await signIn();
  await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }));
});

describe('signing out', () => {
  test('asks first, ends the session, and confirms it', async ({ begin, browser, signedIn, site }) => {
    await signedIn();
    const page = await browser.get(`${site.url}/sign-out`);
    expect(titleOf(page)).toBe('Sign out?');
    const answered = await browser.post(page.action, { ...page.hidden, logout: 'yes' });
    expect(answered.status).toBe(303);
    expect(titleOf(await browser.follow(answered))).toBe('You are signed out');
    expect(titleOf(await begin())).toBe('Sign in');
  });

  test('can be cancelled', async ({ begin, browser, signedIn, site }) => {
    await signedIn();
    const page = await browser.get(`${site.url}/sign-out`);
    expect(titleOf(await browser.follow(await browser.post(page.action, page.hidden)))).toBe(
      'You are still signed in',
    );
    expect((await begin({ client_id: 'annals-app' })).location).toMatch(/code=/);
  });

  test('for a client ends at its registered address, and nowhere else', async ({
    browser,
    signedIn,
    site,
  }) => {
    await signedIn();
    const query = new URLSearchParams({
      client_id: 'reading-list',
      post_logout_redirect_uri: `${site.appUrl}/bye`,
      state: 's',
    });
    const page = await browser.get(`${site.url}/sign-out?${query}`);
    expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${site.appUrl};`);
    expect((await browser.post(page.action, { ...page.hidden, logout: 'yes' })).location).toBe(
      `${site.appUrl}/bye?state=s`,
    );
    const evil = new URLSearchParams({
      client_id: 'reading-list',
      post_logout_redirect_uri: 'https://evil.example/',
    });
    expect((await browser.get(`${site.url}/sign-out?${evil}`)).status).toBe(400);
  });

  test.for<[string, (page: Seen, visitor: Pick<Visitor, 'browser'>) => Promise<Seen>]>([
    ['a wrong token', ({ action }, { browser }) => browser.post(action, { xsrf: 'x', logout: 'yes' })],
    ['no token', ({ action }, { browser }) => browser.post(action, { logout: 'yes' })],
    ['another browser', ({ action, hidden }) => openHandBrowser().post(action, { ...hidden, logout: 'yes' })],
  ])('%s signs nobody out', async ([_what, send], { begin, browser, signedIn, site }) => {
    await signedIn();
    expect((await send(await browser.get(`${site.url}/sign-out`), { browser })).status).toBe(400);
    expect((await begin({ client_id: 'annals-app' })).location).toMatch(/code=/);
  });

  test('of one person takes a button if another has just signed in', async ({
    begin,
    browser,
    signInWith,
    signedIn,
    site,
  }) => {
    await signedIn();
    const other = anAddress();
    await site.addPerson({ email: other, password });
    const page = await browser.follow(
      await signInWith(await begin({ prompt: 'login' }), { email: other, password }),
    );
    expect(titleOf(page)).toBe('Continue');
    const next = await browser.follow(await browser.post(page.action, page.hidden));
    expect(titleOf(next)).toBe('Allow Reading List?');
  });

  test('is recorded in the event log', async ({ begin, browser, eventOf, signInWith, site }) => {
    const who = anAddress();
    const userId = await site.addPerson({ email: who, password });
    await browser.follow(await signInWith(await begin(), { email: who, password }));
    const page = await browser.get(`${site.url}/sign-out`);
    await browser.post(page.action, { ...page.hidden, logout: 'yes' });
    const signedOut = await until(() => eventOf('session.signed_out', userId), Boolean);
    const signedInBefore = await eventOf('session.signed_in', userId);
    expect(signedOut?.stream).toBe(signedInBefore?.stream);
  });
});

test('a deleted person is signed out everywhere', async ({ begin, browser, signInWith, site }) => {
  const who = anAddress();
  const userId = await site.addPerson({ email: who, password });
  const consent = await browser.follow(await signInWith(await begin(), { email: who, password }));
  await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }));
  await site.deletePerson(userId);
  await until(
    () => site.auth.persons.byId(userId),
    (person) => person?.status === 'deleted',
  );
  await until(begin, (page) => titleOf(page) === 'Sign in');
  expect((await signInWith(await begin(), { email: who, password })).status).toBe(422);
});

describe('over https', () => {
  test('cookies have the prefix that binds them to the host', async () => {
    await using secure = await openAccountsSite({ issuerUrl: 'https://id.example' });
    const response = await fetch(`${secure.url}/sign-up`);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-annals_form=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });
});
