import { describe, expect } from 'vitest';
import { openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import { anAddress, password, test, type Visitor } from '../engines/account-visit.ts';

// Own server: it reads the events of sign-ins from the log.

describe('every page', () => {
  test.for<[string, (visitor: Visitor) => Promise<Seen>, number]>([
    ['of sign-in', ({ begin }) => begin(), 200],
    ['of sign-up', ({ browser, site }) => browser.get(`${site.url}/sign-up`), 200],
    ['of consent', ({ signIn }) => signIn(), 200],
    ['for a code', ({ browser, site }) => browser.get(`${site.url}/device`), 200],
    ['of an expired sign-in', ({ browser, site }) => browser.get(`${site.url}/sign-in/nothing`), 400],
    ['of an error', ({ authorizeUrl, browser }) => browser.get(authorizeUrl({ client_id: 'nobody' })), 400],
    ['after sign-out', ({ browser, site }) => browser.get(`${site.url}/sign-out/success`), 200],
    [
      'to go on with where nobody is signed in',
      ({ browser, site }) => browser.get(`${site.url}/sign-out`),
      200,
    ],
  ])(
    '%s is strict about what it lets happen',
    async ([_what, look, status], { authorizeUrl, begin, browser, signIn, site }) => {
      const { status: answered, headers, body } = await look({ authorizeUrl, begin, browser, signIn, site });
      expect(answered).toBe(status);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'( http:\/\/127\.0\.0\.1:\d+)*; base-uri 'none'; frame-ancestors 'none'$/,
      );
      expect(headers.get('cache-control')).toContain('no-store');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(body).not.toMatch(/<script|\son\w+=/i);
      expect(body).toContain('<html lang="en">');
    },
  );
});

describe('consent', () => {
  test.for<[string, (page: Seen, visitor: Pick<Visitor, 'browser'>) => Promise<Seen>, number]>([
    ['no token', ({ action }, { browser }) => browser.post(action, { decision: 'allow' }), 400],
    [
      'a wrong token',
      ({ action }, { browser }) => browser.post(action, { decision: 'allow', token: 'x' }),
      403,
    ],
    ['no decision', ({ action, hidden }, { browser }) => browser.post(action, hidden), 400],
    [
      'another decision',
      ({ action, hidden }, { browser }) => browser.post(action, { ...hidden, decision: 'maybe' }),
      400,
    ],
    [
      'both decisions',
      ({ action, hidden }, { browser }) =>
        browser.post(action, [...Object.entries(hidden), ['decision', 'deny'], ['decision', 'allow']]),
      400,
    ],
    [
      'a form of another site',
      ({ action, hidden }, { browser }) =>
        browser.post(action, { ...hidden, decision: 'allow' }, { 'sec-fetch-site': 'cross-site' }),
      403,
    ],
    [
      'a browser without its cookie',
      ({ action, hidden }) => openHandBrowser().post(action, { ...hidden, decision: 'allow' }),
      400,
    ],
  ])('%s allows nothing', async ([_what, send, status], { browser, signIn }) => {
    const answered = await send(await signIn(), { browser });
    expect([answered.status, answered.location]).toEqual([status, undefined]);
  });

  test('names the requested scopes, and only those', async ({ signIn }) => {
    const page = await signIn({ scope: 'openid write:comments' });
    expect(page.body).toContain('Write, change and delete comments of yours');
    expect(page.body).not.toContain('articles');
  });

  test('is recorded in the event log', async ({ begin, browser, eventOf, signInWith, site }) => {
    const who = anAddress();
    const userId = await site.addPerson({ email: who, password });
    const page = await browser.follow(await signInWith(await begin(), { email: who, password }));
    await browser.post(page.action, { ...page.hidden, decision: 'allow' });
    const event = await until(() => eventOf('grant.consented', userId), Boolean);
    expect(event).toMatchObject({
      data: { clientId: 'reading-list' },
      metadata: { actor: `user:${userId}` },
    });
  });
});
