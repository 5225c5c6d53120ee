import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type HandBrowser, openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import { type AccountVisit, anAddress, openAccountVisit, password } from '../engines/account-visit.ts';
import type { AccountsSite } from '../engines/accounts-site.ts';

// Own server: it reads the events of sign-ins from the log.

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

const authorizeUrl = (more: Record<string, string> = {}) => visit.authorizeUrl(more);
const begin = (more: Record<string, string> = {}, using = browser) => visit.begin(using, more);
const signInWith = (page: Seen, fields: Record<string, string>, using = browser) =>
  visit.signInWith(using, page, fields);
const signIn = (more: Record<string, string> = {}, using = browser) => visit.signIn(using, more);
const eventOf = (type: string, userId: number) => visit.eventOf(type, userId);

describe('every page', () => {
  test.each<[string, () => Promise<Seen>, number]>([
    ['of sign-in', () => begin(), 200],
    ['of sign-up', () => browser.get(`${site.url}/sign-up`), 200],
    ['of consent', () => signIn(), 200],
    ['for a code', () => browser.get(`${site.url}/device`), 200],
    ['of an expired sign-in', () => browser.get(`${site.url}/sign-in/nothing`), 400],
    ['of an error', () => browser.get(authorizeUrl({ client_id: 'nobody' })), 400],
    ['after sign-out', () => browser.get(`${site.url}/sign-out/success`), 200],
    ['to go on with where nobody is signed in', () => browser.get(`${site.url}/sign-out`), 200],
  ])('%s is strict about what it lets happen', async (_what, look, status) => {
    const { status: answered, headers, body } = await look();
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
  });
});

describe('consent', () => {
  test.each<[string, (page: Seen) => Promise<Seen>, number]>([
    ['no token', ({ action }) => browser.post(action, { decision: 'allow' }), 400],
    ['a wrong token', ({ action }) => browser.post(action, { decision: 'allow', token: 'x' }), 403],
    ['no decision', ({ action, hidden }) => browser.post(action, hidden), 400],
    ['another decision', ({ action, hidden }) => browser.post(action, { ...hidden, decision: 'maybe' }), 400],
    [
      'both decisions',
      ({ action, hidden }) =>
        browser.post(action, [...Object.entries(hidden), ['decision', 'deny'], ['decision', 'allow']]),
      400,
    ],
    [
      'a form of another site',
      ({ action, hidden }) =>
        browser.post(action, { ...hidden, decision: 'allow' }, { 'sec-fetch-site': 'cross-site' }),
      403,
    ],
    [
      'a browser without its cookie',
      ({ action, hidden }) => openHandBrowser().post(action, { ...hidden, decision: 'allow' }),
      400,
    ],
  ])('%s allows nothing', async (_what, send, status) => {
    const answered = await send(await signIn());
    expect([answered.status, answered.location]).toEqual([status, undefined]);
  });

  test('names what is asked for, and only that', async () => {
    const page = await signIn({ scope: 'openid write:comments' });
    expect(page.body).toContain('Write, change and delete comments of yours');
    expect(page.body).not.toContain('articles');
  });

  test('is told to the event log', async () => {
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
