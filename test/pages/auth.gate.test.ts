// Takes minutes, so it starts first.
// Over 200 lines, because every page is looked at in the one installation that is set up here.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { type AccountsSite, openAccountsSite } from '../engines/accounts-site.ts';
import {
  describeInChromium,
  expectAccessible,
  expectFitting,
  launchChromium,
  picture,
  SIZES,
  sizesOf,
} from '../engines/chromium.ts';

const password = 'correct horse battery';
const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url');

const DEADLINE_MS = scaled(15_000);
const eventually = <Value>(look: () => Promise<Value> | Value) => expect.poll(look, { timeout: DEADLINE_MS });

describeInChromium('the pages in Chromium', () => {
  let site: AccountsSite;
  let chromium: Browser;
  beforeAll(async () => {
    site = await openAccountsSite();
    await site.addClient('reading-list');
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium?.close();
    await site?.[Symbol.asyncDispose]();
  });

  const authorizeUrl = (more: Record<string, string> = {}): string => {
    const query = {
      client_id: 'reading-list',
      redirect_uri: `${site.appUrl}/callback`,
      code_challenge: challenge,
      state: 'st',
      ...more,
    };
    return `${site.url}/authorize?${new URLSearchParams(query)}`;
  };
  const person = async (role: 'author' | 'admin' = 'author') => {
    const email = `${randomUUID().slice(0, 8)}@example.com`;
    await site.addPerson({ email, password, role });
    return email;
  };
  const fill = async (page: Page, fields: Record<string, string>) => {
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
  };
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const signIn = async (page: Page, email: string, typed = password) => {
    await fill(page, { 'E-mail address': email, Password: typed });
    await press(page, 'Sign in');
  };

  describe.each(sizesOf(SIZES, 'phone'))('on a %s', (size, options) => {
    let context: BrowserContext;
    let page: Page;
    let scripted: Page;
    const complaints: string[] = [];
    beforeEach(async () => {
      // Everything works without scripts, so there are none.
      context = await chromium.newContext({ ...options, javaScriptEnabled: false });
      page = await context.newPage();
      context.setDefaultTimeout(DEADLINE_MS);
      scripted = await (await chromium.newContext(options)).newPage();
      complaints.length = 0;
      page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    });
    afterEach(async () => {
      await context.close();
      await scripted.context().close();
    });

    /** Checks a page in every respect. */
    const look = async (title: string | RegExp, name: string) => {
      await eventually(() => page.title()).toMatch(title);
      await picture(page, `${size}-${name}`);
      await expectFitting(page);
      await expectAccessible(page, scripted);
    };
    const expectCode = () =>
      eventually(() => page.url()).toMatch(new RegExp(`^${site.appUrl}/callback\\?code=.+&state=st`));

    test('a new user signs up, allows the client, and returns to it with a code', async () => {
      await page.goto(authorizeUrl());
      await look('Sign in · Annals', '01-sign-in');
      await page.getByRole('link', { name: 'Create an account' }).click();
      await look('Create an account', '02-sign-up');
      await press(page, 'Create account');
      await look('Not yet: Create an account', '03-sign-up-wrong');
      await page.getByRole('link', { name: 'Enter a name' }).click();
      expect(page.url()).toMatch(/#name$/);
      await fill(page, {
        Name: 'Ada Lovelace',
        'E-mail address': `${randomUUID().slice(0, 8)}@example.com`,
        Password: password,
      });
      await press(page, 'Create account');
      await look('Allow Reading List', '04-consent');
      await press(page, 'Allow');
      await expectCode();
      expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
    });

    test('a wrong password is reported, takes the focus, and can be corrected', async () => {
      const email = await person();
      await page.goto(authorizeUrl());
      await signIn(page, email, 'something else');
      await look('Not yet: Sign in', '05-wrong-password');
      expect(await page.evaluate(`document.activeElement?.getAttribute('role')`)).toBe('alert');
      expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
      await signIn(page, email);
      await press(page, 'Allow');
      await expectCode();
    });

    test('too many attempts are reported with the time to wait', async () => {
      const email = await person();
      await page.goto(authorizeUrl());
      for (let times = 0; times < 11; times += 1) {
        await signIn(page, email, 'something else');
        await eventually(() => page.getByRole('alert').textContent()).toMatch(
          times < 10 ? /No account/ : /Try again in/,
        );
      }
      await look('Not yet: Sign in', '06-too-many');
    });

    test('an administrator sees what consent means for them, and can refuse', async () => {
      await page.goto(authorizeUrl({ scope: 'openid read:articles write:articles write:comments' }));
      await signIn(page, await person('admin'));
      await look('Allow Reading List', '07-consent-admin');
      await press(page, 'Do not allow');
      await eventually(() => page.url()).toContain(`${site.appUrl}/callback?error=access_denied`);
    });

    test('a device is connected by its code', async () => {
      const answer = await fetch(`${site.url}/device_authorization`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: 'reading-list' }),
      });
      const { user_code: code } = (await answer.json()) as { user_code: string };
      await page.goto(`${site.url}/device`);
      await look('Connect a device', '08-device');
      await fill(page, { Code: 'WRON-GONE' });
      await press(page, 'Continue');
      await look('Not yet: Connect a device', '09-device-wrong');
      await page.goto(`${site.url}/device?user_code=${code}`);
      expect(await page.getByLabel('Code').inputValue()).toBe(code);
      await press(page, 'Continue');
      await look('Is this your device', '10-device-confirm');
      await press(page, 'Yes, the codes match');
      await signIn(page, await person());
      await look('Allow Reading List', '11-device-consent');
      await press(page, 'Allow');
      await look('The device is connected', '12-device-done');
    });

    test('signing out asks first, returns to the client, and ends on a page', async () => {
      await page.goto(authorizeUrl());
      await signIn(page, await person());
      await press(page, 'Allow');
      await expectCode();
      const query = new URLSearchParams({
        client_id: 'reading-list',
        post_logout_redirect_uri: `${site.appUrl}/bye`,
      });
      await page.goto(`${site.url}/sign-out?${query}`);
      await look('Sign out', '13-sign-out');
      await press(page, 'Sign out');
      await eventually(() => page.url()).toBe(`${site.appUrl}/bye`);
      await page.goto(`${site.url}/sign-out`);
      await look('Continue', '14-signed-out-already');
      await press(page, 'Continue');
      await look('You are signed out', '15-signed-out');
      await page.goto(authorizeUrl());
      await eventually(() => page.title()).toBe('Sign in · Annals');
    });

    test('an error is explained on a page', async () => {
      await page.goto(`${site.url}/sign-in/nothing`);
      await look('This page has expired', '16-expired');
      await page.goto(authorizeUrl({ client_id: 'nobody' }));
      await look('This request cannot be processed', '17-error');
      await page.goto(`${site.url}/sign-up/done`);
      await look('Your account is ready', '18-signed-up');
    });

    test('everything can be done with the keyboard alone', async () => {
      const email = await person();
      await page.goto(authorizeUrl());
      const focused = () =>
        page.evaluate('document.activeElement?.id || document.activeElement?.textContent');
      await eventually(focused).toBe('email');
      await page.keyboard.type(email);
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('password');
      await page.keyboard.type(password);
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Sign in');
      await page.keyboard.press('Enter');
      await eventually(() => page.title()).toMatch('Allow Reading List');
    });
  });

  test.each([
    ['by its script', true],
    ['by its button without scripts', false],
  ])(
    'a form that answers a client (form_post) is sent %s, and nothing is complained of',
    async (_, javaScriptEnabled) => {
      const context = await chromium.newContext({ javaScriptEnabled });
      context.setDefaultTimeout(DEADLINE_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
      const sent = page.waitForRequest(`${site.appUrl}/callback`);
      await page.goto(authorizeUrl({ response_mode: 'form_post' }));
      await signIn(page, await person());
      await press(page, 'Allow');
      if (!javaScriptEnabled) await press(page, 'Continue');
      const request = await sent;
      expect(request.postData()).toMatch(/code=.+&state=st/);
      expect(await request.allHeaders()).toMatchObject({ origin: site.url, referer: `${site.url}/` });
      await eventually(() => page.title()).toBe('Reading List');
      expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([]);
      await context.close();
    },
  );

  test('no other page can frame them, or submit their forms', async () => {
    const context = await chromium.newContext();
    const page = await context.newPage();
    await page.route(`${site.appUrl}/evil`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<iframe src="${site.url}/sign-up"></iframe><form method="post" action="${site.url}/sign-up"><input name="name" value="x"><button>go</button></form>`,
      }),
    );
    await page.goto(`${site.appUrl}/evil`);
    await eventually(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
    await page.getByRole('button').click();
    await eventually(() => page.title()).toBe('This form cannot be accepted · Annals');
    await context.close();
  });
});
