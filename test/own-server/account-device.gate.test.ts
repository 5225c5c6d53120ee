import { describe, expect } from 'vitest';
import { openHandBrowser, type Seen } from '../../testing/http/browser-by-hand.ts';
import { test as base, email, from, password, titleOf } from '../engines/account-visit.ts';

// Own server: clients come from many addresses, which the ingress accepts from no client.

const test = base
  .extend('askForCode', ({ site }) => async () => {
    const answer = await fetch(`${site.url}/device_authorization`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'reading-list', scope: 'openid read:articles' }),
    });
    return (await answer.json()) as {
      user_code: string;
      device_code: string;
      verification_uri_complete: string;
    };
  })
  .extend(
    'poll',
    ({ site }) =>
      (deviceCode: string) =>
        fetch(`${site.url}/token`, {
          method: 'POST',
          body: new URLSearchParams({
            client_id: 'reading-list',
            grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
            device_code: deviceCode,
          }),
        }),
  )
  .extend(
    'enter',
    ({ browser }) =>
      (page: Seen, code: string, more: Record<string, string> = {}, headers = from()) =>
        browser.post(page.action, { ...page.hidden, user_code: code, ...more }, headers),
  );

describe('connecting a device', () => {
  test('takes its code, a confirmation, sign-in and consent', async ({
    askForCode,
    browser,
    enter,
    poll,
    signInWith,
    site,
  }) => {
    const { user_code: code, device_code: deviceCode } = await askForCode();
    const confirm = await enter(
      await browser.get(`${site.url}/device`),
      code.toLowerCase().replace('-', ' '),
    );
    expect(titleOf(confirm)).toBe('Is this your device?');
    expect(confirm.body).toContain(code);
    const signInPage = await browser.follow(
      await browser.post(confirm.action, { ...confirm.hidden, confirm: 'yes' }, from()),
    );
    const consent = await browser.follow(await signInWith(signInPage, { email, password }));
    expect(titleOf(consent)).toBe('Allow Reading List?');
    expect(consent.body).not.toContain('You will be sent to');
    const done = await browser.follow(
      await browser.post(consent.action, { ...consent.hidden, decision: 'allow' }),
    );
    expect(titleOf(done)).toBe('The device is connected');
    expect(await (await poll(deviceCode)).json()).toMatchObject({ token_type: 'Bearer' });
  });

  test('a code in the address is shown but not submitted', async ({ askForCode, browser, site }) => {
    const { user_code: code, verification_uri_complete: address } = await askForCode();
    const page = await browser.get(address);
    expect(titleOf(page)).toBe('Connect a device');
    expect(page.body).toContain(`value="${code}"`);
    const forged = await browser.get(`${site.url}/device?user_code=${encodeURIComponent('"><script>')}`);
    expect(forged.body).not.toContain('<script');
  });

  test('can be refused, and the device gets the refusal', async ({
    askForCode,
    browser,
    enter,
    poll,
    site,
  }) => {
    const { user_code: code, device_code: deviceCode } = await askForCode();
    const confirm = await enter(await browser.get(`${site.url}/device`), code);
    const aborted = await browser.post(confirm.action, { ...confirm.hidden, abort: 'yes' }, from());
    expect(titleOf(aborted)).toBe('The device was not connected');
    expect(await (await poll(deviceCode)).json()).toMatchObject({ error: 'access_denied' });
  });

  test.for<[string, string, string]>([
    ['no code', '', 'Enter the code that the device shows.'],
    ['a wrong code', 'BCDF-GHJK', 'There is no such code.'],
    ['markup', '<script>alert(1)</script>', 'There is no such code.'],
  ])('%s is reported', async ([_what, code, message], { browser, enter, site }) => {
    const page = await enter(await browser.get(`${site.url}/device`), code);
    expect(page.body).toContain(message);
    expect(page.body).not.toContain('<script');
  });

  test('a form of another browser is refused', async ({ askForCode, enter, site }) => {
    const { user_code: code } = await askForCode();
    const page = await openHandBrowser().get(`${site.url}/device`);
    expect((await enter(page, code)).status).toBe(400);
  });

  test('guesses are limited to thirty per address; right codes do not count', async ({
    askForCode,
    browser,
    enter,
    site,
  }) => {
    const address = from('203.0.113.77');
    const { user_code: code } = await askForCode();
    const statuses: number[] = [];
    for (let times = 1; times <= 33; times += 1) {
      const page = await browser.get(`${site.url}/device`);
      statuses.push((await enter(page, times <= 3 ? code : 'BCDF-GHJK', {}, address)).status);
    }
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    expect(statuses.slice(3)).toEqual(Array(30).fill(422));
    const refused = await enter(await browser.get(`${site.url}/device`), code, {}, address);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([
      429,
      expect.stringMatching(/^\d+$/),
    ]);
  });
});
