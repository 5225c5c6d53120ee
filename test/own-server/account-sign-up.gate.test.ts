import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import { type HandBrowser, openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { until } from '../../testing/until.ts';
import {
  anAddress,
  test as base,
  challenge,
  email,
  from,
  password,
  titleOf,
  type Visitor,
} from '../engines/account-visit.ts';
import { openAccountsSite } from '../engines/accounts-site.ts';

// Own server: clients come from many addresses, which the ingress accepts from no client.

const test = base
  .extend(
    'signUp',
    ({ browser }) =>
      (page: Seen, fields: Record<string, string> = {}, using = browser) =>
        using.post(
          page.action,
          { ...page.hidden, name: 'Ada Lovelace', email: anAddress(), password, ...fields },
          from(),
        ),
  )
  .extend(
    'signUpPage',
    ({ begin, browser }) =>
      async (using = browser) =>
        using.get(`${(await begin({}, using)).url}/sign-up`),
  );

type SignUp = (page: Seen, fields?: Record<string, string>, using?: HandBrowser) => Promise<Seen>;

describe('signing up', () => {
  test('during a sign-in continues to consent, and is recorded', async ({
    begin,
    browser,
    eventOf,
    signInWith,
    signUp,
    signUpPage,
    site,
  }) => {
    const who = anAddress();
    const answered = await signUp(await signUpPage(), { email: who });
    expect(answered.status).toBe(303);
    expect(titleOf(await browser.follow(answered))).toBe('Allow Reading List?');
    const person = await site.auth.persons.byEmail(who);
    expect(person).toMatchObject({ role: 'author', status: 'active' });
    const event = await until(() => eventOf('session.signed_in', person?.userId ?? 0), Boolean);
    expect(event).toMatchObject({ data: { method: 'password' }, metadata: { client: 'reading-list' } });
    const fresh = openHandBrowser();
    expect(
      titleOf(await fresh.follow(await signInWith(await begin({}, fresh), { email: who, password }, fresh))),
    ).toBe('Allow Reading List?');
  });

  test('by itself ends with a page that explains the next step', async ({ browser, signUp, site }) => {
    const answered = await signUp(await browser.get(`${site.url}/sign-up`));
    expect([answered.status, answered.location]).toEqual([303, `${site.url}/sign-up/done`]);
    expect(titleOf(await browser.follow(answered))).toBe('Your account is ready');
  });

  test('keeps the typed values except the password after an error', async ({ signUp, signUpPage }) => {
    const page = await signUp(await signUpPage(), { name: '<b>Ada</b>', email: 'ada', password: 'short' });
    expect(page.status).toBe(422);
    expect(page.body).toContain('value="&lt;b&gt;Ada&lt;/b&gt;"');
    expect(page.body).toContain('<a href="#email">Enter an e-mail address, such as name@example.com.</a>');
    expect(page.body).toContain('<a href="#password">Choose a password of at least 10 characters.</a>');
    expect(page.body).not.toContain('short');
    expect((await signUp(page)).status).toBe(303);
  });

  test('with a taken address reports that, and the next form works', async ({ signUp, signUpPage }) => {
    const page = await signUp(await signUpPage(), { email: email.toUpperCase() });
    expect(page.status).toBe(409);
    expect(page.body).toContain('This address already has an account.');
    expect((await signUp(page)).status).toBe(303);
  });

  test('twice with one form makes one account', async ({ browser, signUp, site }) => {
    const page = await browser.get(`${site.url}/sign-up`);
    const fields = { email: anAddress() };
    expect([(await signUp(page, fields)).status, (await signUp(page, fields)).status]).toEqual([303, 303]);
    const again = await signUp(page, { email: anAddress() });
    expect(again.status).toBe(409);
    expect(again.body).toContain('This form was already sent.');
    expect((await signUp(page, { ...fields, password: 'another password' })).status).toBe(409);
  });

  test.for<
    [
      string,
      (page: Seen, visitor: Pick<Visitor, 'browser' | 'site'> & { signUp: SignUp }) => Promise<Seen>,
      number,
    ]
  >([
    [
      'no token',
      ({ action, hidden: { form = '' } }, { browser }) =>
        browser.post(action, { form, name: 'A', email: anAddress(), password }),
      400,
    ],
    [
      'another form’s id',
      (page, { signUp }) => signUp(page, { form: randomBytes(16).toString('base64url') }),
      403,
    ],
    ['a form’s id that is none', (page, { signUp }) => signUp(page, { form: 'x' }), 400],
    ['a browser without the cookie', (page, { signUp }) => signUp(page, {}, openHandBrowser()), 403],
    [
      'the cookie of another browser',
      async (page, { signUp, site }) => {
        const other = openHandBrowser();
        await other.get(`${site.url}/sign-up`);
        return signUp(page, {}, other);
      },
      403,
    ],
    [
      'a form of another site',
      ({ action, hidden }, { browser }) =>
        browser.post(
          action,
          { ...hidden, name: 'A', email: anAddress(), password },
          { 'sec-fetch-site': 'same-site' },
        ),
      403,
    ],
    [
      'a repeated name',
      ({ action, hidden }, { browser }) =>
        browser.post(action, [
          ...Object.entries(hidden),
          ['name', 'a'],
          ['name', 'b'],
          ['email', anAddress()],
          ['password', password],
        ]),
      400,
    ],
    ['a role', (page, { signUp }) => signUp(page, { role: 'admin' }), 303],
  ])('%s is answered by %#', async ([_what, send, status], { browser, signUp, site }) => {
    expect((await send(await browser.get(`${site.url}/sign-up`), { browser, signUp, site })).status).toBe(
      status,
    );
  });

  test('cannot choose a role', async ({ browser, signUp, site }) => {
    const who = anAddress();
    await signUp(await browser.get(`${site.url}/sign-up`), { email: who, role: 'admin' });
    expect(await site.auth.persons.byEmail(who)).toMatchObject({ role: 'author' });
  });

  test('is absent if it is turned off', async () => {
    await using closed = await openAccountsSite({ signUp: 'off' });
    await closed.addClient('reading-list');
    const own = openHandBrowser();
    const page = await own.get(`${closed.url}/sign-up`);
    expect([page.status, titleOf(page)]).toEqual([404, 'You cannot sign up here']);
    expect((await own.post(`${closed.url}/sign-up`, {})).status).toBe(404);
    const query = {
      client_id: 'reading-list',
      redirect_uri: `${closed.appUrl}/callback`,
      code_challenge: challenge,
    };
    const signInPage = await own.follow(
      await own.get(`${closed.url}/authorize?${new URLSearchParams(query)}`),
    );
    expect(signInPage.body).not.toContain('sign-up');
  });
});
