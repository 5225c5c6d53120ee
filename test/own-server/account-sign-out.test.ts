import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type HandBrowser, openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import {
  type AccountVisit,
  anAddress,
  openAccountVisit,
  password,
  titleOf,
} from '../engines/account-visit.ts';
import { type AccountsSite, openAccountsSite } from '../engines/accounts-site.ts';

// Own server: it reads the events of sign-outs from the log.

let visit: AccountVisit;
let site: AccountsSite;
let browser: HandBrowser;
beforeAll(async () => {
  visit = await openAccountVisit();
  site = visit.site;
});
afterAll(() => site?.[Symbol.asyncDispose]());
beforeEach(() => {
  browser = openHandBrowser();
});

const begin = (more: Record<string, string> = {}, using = browser) => visit.begin(using, more);
const signInWith = (page: Seen, fields: Record<string, string>, using = browser) =>
  visit.signInWith(using, page, fields);
const signIn = (more: Record<string, string> = {}, using = browser) => visit.signIn(using, more);
const eventOf = (type: string, userId: number) => visit.eventOf(type, userId);

describe('signing out', () => {
  const signedIn = async () => {
    const consent = await signIn();
    await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }));
  };

  test('asks first, ends the session, and says so', async () => {
    await signedIn();
    const page = await browser.get(`${site.url}/sign-out`);
    expect(titleOf(page)).toBe('Sign out?');
    const answered = await browser.post(page.action, { ...page.hidden, logout: 'yes' });
    expect(answered.status).toBe(303);
    expect(titleOf(await browser.follow(answered))).toBe('You are signed out');
    expect(titleOf(await begin())).toBe('Sign in');
  });

  test('can be thought better of', async () => {
    await signedIn();
    const page = await browser.get(`${site.url}/sign-out`);
    expect(titleOf(await browser.follow(await browser.post(page.action, page.hidden)))).toBe(
      'You stay signed in',
    );
    expect((await begin({ client_id: 'annals-app' })).location).toMatch(/code=/);
  });

  test('for a client ends where the client has registered, and nowhere else', async () => {
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

  test.each<[string, (page: Seen) => Promise<Seen>]>([
    ['a wrong token', ({ action }) => browser.post(action, { xsrf: 'x', logout: 'yes' })],
    ['no token', ({ action }) => browser.post(action, { logout: 'yes' })],
    ['another browser', ({ action, hidden }) => openHandBrowser().post(action, { ...hidden, logout: 'yes' })],
  ])('%s signs nobody out', async (_what, send) => {
    await signedIn();
    expect((await send(await browser.get(`${site.url}/sign-out`))).status).toBe(400);
    expect((await begin({ client_id: 'annals-app' })).location).toMatch(/code=/);
  });

  test('of one person happens by a button where another has just signed in', async () => {
    await signedIn();
    const other = anAddress();
    await site.addPerson({ email: other, password });
    const page = await browser.follow(
      await signInWith(await begin({ prompt: 'login' }), { email: other, password }),
    );
    expect(titleOf(page)).toBe('Go on');
    const next = await browser.follow(await browser.post(page.action, page.hidden));
    expect(titleOf(next)).toBe('Allow Reading List?');
  });

  test('is told to the event log', async () => {
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

test('a person who is deleted is signed out everywhere', async () => {
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
