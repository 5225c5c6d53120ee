// Over 200 lines, because every case uses the one installation that is set up here.
import { describe, expect } from 'vitest';
import { SCOPES_MAX } from '#kernel/base/events/fields.ts';
import { openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import {
  email,
  from,
  password,
  test,
  titleOf,
  type Visitor,
  verifier,
  WEB_REDIRECT_URI,
} from '../engines/account-visit.ts';

// Own server: clients come from many addresses, which the ingress accepts from no client.

describe('signing in', () => {
  test('leads by 303 to the consent, and from there by 302 to the client with a code', async ({
    begin,
    browser,
    signInWith,
    site,
  }) => {
    const answered = await signInWith(await begin(), { email: 'ADA@Example.com ', password });
    expect(answered.status).toBe(303);
    const consent = await browser.follow(answered);
    expect(titleOf(consent)).toBe('Allow Reading List?');
    for (const words of ['Know who you are', 'Read articles', 'Write, change and delete articles'])
      expect(consent.body).toContain(words);
    expect(consent.body).toContain(new URL(site.appUrl).host);
    const allowed = await browser.post(consent.action, { ...consent.hidden, decision: 'allow' });
    expect(allowed.status).toBe(303);
    const callback = await browser.get(allowed.location ?? '');
    expect(callback.status).toBe(302);
    expect(callback.location).toMatch(new RegExp(`^${site.appUrl}/callback\\?code=[^&]+&state=st&iss=`));
    const tokens = await fetch(`${site.url}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: 'reading-list',
        code: new URL(callback.location ?? '').searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: `${site.appUrl}/callback`,
      }),
    });
    expect(await tokens.json()).toMatchObject({
      token_type: 'Bearer',
      scope: expect.stringContaining('write:articles'),
    });
  });

  test('does not repeat the consent for a client on the web, and never asks for our own application', async ({
    begin,
    browser,
    signIn,
  }) => {
    const web = { client_id: 'web-reader', redirect_uri: WEB_REDIRECT_URI };
    const consent = await signIn(web);
    await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }));
    expect((await begin(web)).location).toMatch(/^https:\/\/reader\.example\/callback\?code=/);
    expect(titleOf(await begin({ ...web, scope: 'openid write:comments' }))).toBe('Allow Web Reader?');
    expect((await begin({ client_id: 'annals-app' })).location).toMatch(/\/callback\?code=/);
    expect((await signIn({ client_id: 'annals-app' }, openHandBrowser())).location).toMatch(
      /\/callback\?code=/,
    );
  });

  test('asks each time for a native client, which another program could impersonate (RFC 8252, 8.6)', async ({
    begin,
    browser,
    signIn,
  }) => {
    const consent = await signIn();
    await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }));
    expect(titleOf(await begin())).toBe('Allow Reading List?');
  });

  test('and a refusal leads back to the client with access_denied', async ({ browser, signIn }) => {
    const consent = await signIn();
    const denied = await browser.follow(
      await browser.post(consent.action, { ...consent.hidden, decision: 'deny' }),
    );
    expect(denied.location).toMatch(/\/callback\?error=access_denied&/);
  });

  test('can be cancelled', async ({ begin, browser, signInWith }) => {
    const page = await begin();
    const cancelled = await browser.follow(
      await signInWith(page, { email: '', password: '', cancel: 'yes' }),
    );
    expect(cancelled.location).toMatch(/\/callback\?error=access_denied&/);
  });

  test('gives the session a new id', async ({ browser, signIn }) => {
    const consent = await signIn();
    await browser.follow(await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }));
    const before = browser.cookies.get('annals_session')?.value;
    await signIn({ prompt: 'login' });
    expect(before).toBeDefined();
    expect(browser.cookies.get('annals_session')?.value).not.toBe(before);
  });

  test('shows the address that the client suggests, as text', async ({ begin }) => {
    const page = await begin({ login_hint: '"><script>alert(1)</script>' });
    expect(page.body).toContain('value="&quot;&gt;&lt;script&gt;');
    expect(page.body).not.toContain('<script');
  });

  test.for<[string, { email: string; password: string }]>([
    ['a wrong password', { email, password: 'wrong password' }],
    ['an address of nobody', { email: 'nobody@example.com', password }],
  ])('%s gets the same answer', async ([_what, fields], { begin, browser, signInWith }) => {
    const page = await signInWith(await begin(), fields);
    expect(page.status).toBe(422);
    expect(page.body).toContain('No account has this e-mail address and this password.');
    expect(page.body).toContain(`value="${fields.email}"`);
    expect(page.body).not.toContain(fields.password);
    expect(titleOf(page)).toBe('Not yet: Sign in');
    expect((await browser.follow(await signInWith(page, { email, password }))).status).toBe(200);
  });

  test('a missing field is reported with a link', async ({ begin, signInWith }) => {
    const page = await signInWith(await begin(), { email: '', password: '' });
    expect(page.status).toBe(422);
    expect(page.body).toContain('<a href="#email">Enter your e-mail address.</a>');
    expect(page.body).toMatch(
      /<input id="password"[^>]*aria-describedby="password-problem" aria-invalid="true"/,
    );
  });

  type Wrong = (page: Seen, visitor: Pick<Visitor, 'begin' | 'browser'>) => Promise<Seen>;
  test.for<[string, Wrong, number]>([
    ['no token', ({ action }, { browser }) => browser.post(action, { email, password }), 400],
    [
      'a wrong token',
      ({ action }, { browser }) => browser.post(action, { email, password, token: 'x'.repeat(43) }),
      403,
    ],
    [
      'the token of another sign-in',
      async ({ action }, { begin, browser }) =>
        browser.post(action, { ...(await begin({}, openHandBrowser())).hidden, email, password }),
      403,
    ],
    [
      'a repeated field',
      ({ action, hidden }, { browser }) =>
        browser.post(action, [
          ...Object.entries(hidden),
          ['email', email],
          ['email', 'b@example.com'],
          ['password', password],
        ]),
      400,
    ],
    ['no password', ({ action, hidden }, { browser }) => browser.post(action, { ...hidden, email }), 400],
    [
      'a field that is too long',
      ({ action, hidden }, { browser }) =>
        browser.post(action, { ...hidden, email, password: 'x'.repeat(201) }),
      400,
    ],
    [
      'a body that is too large',
      ({ action, hidden }, { browser }) =>
        browser.post(action, { ...hidden, email, password, more: 'x'.repeat(70_000) }),
      413,
    ],
    [
      'too many fields',
      ({ action, hidden }, { browser }) =>
        browser.post(action, [
          ...Object.entries(hidden),
          ...Array.from({ length: SCOPES_MAX + 101 }, (_, at) => [`f${at}`, 'x'] as const),
        ]),
      413,
    ],
    [
      'JSON',
      ({ action, hidden }, { browser }) =>
        browser.post(action, JSON.stringify({ ...hidden, email, password }), {
          'content-type': 'application/json',
        }),
      400,
    ],
    [
      'a form of another site',
      ({ action, hidden }, { browser }) =>
        browser.post(action, { ...hidden, email, password }, { 'sec-fetch-site': 'cross-site' }),
      403,
    ],
    [
      'a browser without its cookie',
      ({ action, hidden }) => openHandBrowser().post(action, { ...hidden, email, password }),
      400,
    ],
    [
      'the path of another sign-in',
      async ({ hidden }, { begin, browser }) =>
        browser.post((await begin({}, openHandBrowser())).action, { ...hidden, email, password }),
      400,
    ],
    [
      'the path of consent',
      ({ action, hidden }, { browser }) =>
        browser.post(action.replace('/sign-in/', '/consent/'), { ...hidden, decision: 'allow' }),
      400,
    ],
    [
      'another method',
      ({ action }) =>
        fetch(action, { method: 'PUT' }).then(
          async (response) => ({ status: response.status, body: '' }) as Seen,
        ),
      405,
    ],
  ])('%s is refused with a page', async ([_what, send, status], { begin, browser }) => {
    const answered = await send(await begin(), { begin, browser });
    expect(answered.status).toBe(status);
    expect(answered.location).toBeUndefined();
  });

  test('an old form is refused once its sign-in is over', async ({ begin, browser, signInWith }) => {
    const page = await begin();
    await browser.follow(await signInWith(page, { email, password }));
    expect((await signInWith(page, { email, password })).status).toBe(400);
  });

  test('the redirect comes from the client only', async ({ authorizeUrl, begin, browser, site }) => {
    const page = await begin();
    for (const name of ['return_to', 'returnTo', 'next', 'redirect_uri', 'RelayState']) {
      const answered = await browser.post(
        `${page.action}?${name}=https://evil.example/%0d%0aX-Evil:1`,
        { ...page.hidden, email, password, [name]: 'https://evil.example/' },
        from(),
      );
      expect(new URL(answered.location ?? '').origin, name).toBe(site.url);
      expect(answered.headers.get('x-evil')).toBeNull();
    }
    expect((await browser.get(authorizeUrl({ redirect_uri: 'https://evil.example/callback' }))).status).toBe(
      400,
    );
    expect(
      (await browser.get(authorizeUrl({ redirect_uri: `${site.appUrl}/callback\r\nX-Evil: 1` }))).location,
    ).toBeUndefined();
  });
});
