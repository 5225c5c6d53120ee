// Over 200 lines, because every failure of a session is tried here, on one server.
import { createHash } from 'node:crypto';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { describeInChromium, launchChromium } from '../engines/chromium.ts';
import { openScriptedSignIn, type ScriptedSignIn } from '../engines/scripted-sign-in.ts';

/** Sessions of pages against a server that fails on request. */
describeInChromium('a session in Chromium', () => {
  let chromium: Browser;
  let site: ScriptedSignIn;
  let context: BrowserContext;
  beforeAll(async () => {
    chromium = await launchChromium();
  });
  afterAll(() => chromium?.close());
  beforeEach(async () => {
    site = await openScriptedSignIn();
    context = await chromium.newContext();
    context.setDefaultTimeout(scaled(30_000));
  });
  afterEach(async () => {
    await context.close();
    await site[Symbol.asyncDispose]();
  });

  const started = async (page: Page): Promise<unknown> =>
    (await page.waitForFunction('window.started !== undefined')) && page.evaluate('started');
  const openTab = async (path = '/browser'): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${site.url}${path}`);
    await started(page);
    return page;
  };
  const signIn = async (page: Page, options = ''): Promise<unknown> => {
    await page.evaluate('window.isLeft = true');
    await page.evaluate(`void session.signIn(${options})`);
    await page.waitForFunction('window.isLeft === undefined && window.started !== undefined');
    return page.evaluate('started');
  };
  const openSignedIn = async (path?: string): Promise<Page> => {
    const page = await openTab(path);
    expect(await signIn(page)).toBe(true);
    return page;
  };
  const isSignedIn = (page: Page): Promise<boolean> => page.evaluate('session.isSignedIn');
  const read = (page: Page): Promise<unknown> => page.evaluate('read()');
  const grants = () => site.forms.map((form) => form.get('grant_type'));
  const untilReceived = (page: Page, expected: readonly boolean[]) =>
    until(
      () => page.evaluate<boolean[]>('received'),
      (seen) => JSON.stringify(seen) === JSON.stringify(expected),
    );

  test('returns to the user’s page, without the code in the address or in a reload', async () => {
    const page = await openTab('/browser?tag=a#part');
    expect([await isSignedIn(page), await read(page)]).toEqual([false, 7]);
    expect(await signIn(page)).toBe(true);
    expect(page.url()).toBe(`${site.url}/browser?tag=a#part`);
    expect(await read(page)).toBe(7);
    await page.reload();
    expect([await started(page), await read(page)]).toEqual([true, 7]);
    await page.goBack();
    expect([await started(page), await isSignedIn(page)]).toEqual([true, true]);
    expect(grants()).toEqual(['authorization_code']);
    expect(site.sent.map((sent) => sent?.split(' ')[0])).toEqual([undefined, 'Bearer', 'Bearer']);
  });

  test.each([
    ['browser', true, true],
    ['tab', true, false],
    ['memory', false, false],
  ])('keeps tokens as %s: after a reload %s, in another tab %s', async (storage, afterReload, elsewhere) => {
    const page = await openSignedIn(`/${storage}`);
    expect(await isSignedIn(await openTab(`/${storage}`))).toBe(elsewhere);
    await page.reload();
    expect(await started(page)).toBe(afterReload);
  });

  test.each(['/browser', '/dpop'])(
    'of tabs that need another token at once, one asks, and all go on (%s)',
    async (path) => {
      const tabs = [await openSignedIn(path), await openTab(path), await openTab(path)];
      for (let round = 1; round <= 3; round++) {
        site.endAccess();
        expect(await Promise.all(tabs.flatMap((tab) => [read(tab), read(tab)]))).toEqual(Array(6).fill(7));
        expect([grants().length, site.isReused()]).toEqual([1 + round, false]);
      }
    },
  );

  test('a renewal that is refused temporarily or cut is retried', async () => {
    const page = await openSignedIn();
    site.endAccess();
    site.troubles.push(503, 'cut', 429);
    expect(await read(page)).toBe(7);
    expect([grants().length, site.isReused()]).toEqual([5, false]);
  });

  test('a refused renewal ends the session, in all tabs and without a loop', async () => {
    const [page, other] = [await openSignedIn(), await openTab()];
    site.endAccess();
    site.endRefresh();
    expect(await read(page)).toEqual({ code: 'invalid_grant', message: 'it is of no use any more' });
    await untilReceived(page, [true, false]);
    await untilReceived(other, [false]);
    expect([await read(page), await read(other), grants().length]).toEqual([7, 7, 2]);
    expect(site.sent.slice(-2)).toEqual([undefined, undefined]);
    expect(await signIn(page)).toBe(true);
    await untilReceived(other, [false, true]);
    expect(await read(other)).toBe(7);
  });

  test('a renewal with a lost answer ends the session, and signing in starts another', async () => {
    const page = await openSignedIn();
    site.endAccess();
    site.troubles.push('lost');
    expect([await read(page), await isSignedIn(page), grants().length]).toEqual([
      { code: 'invalid_grant', message: 'it is of no use any more' },
      false,
      3,
    ]);
    expect([await signIn(page), await read(page)]).toEqual([true, 7]);
  });

  test('a sign-out appears in the other tab, and revokes the result of a pending renewal', async () => {
    const [page, other] = [await openSignedIn(), await openTab()];
    const opened = Promise.withResolvers<void>();
    site.gate = opened.promise;
    site.endAccess();
    const reading = read(other);
    await until(grants, ({ length }) => length === 2);
    await page.evaluate('session.signOut()');
    await untilReceived(other, [false]);
    expect(await isSignedIn(page)).toBe(false);
    opened.resolve();
    expect(await reading).toEqual({ code: 'signed_out', message: 'the session has ended: sign in again' });
    await until(
      () => site.revoked,
      ({ length }) => length === 2,
    );
    expect([await isSignedIn(other), new Set(site.revoked).size, site.isReused()]).toEqual([false, 2, false]);
  });

  test.each(['tab', 'memory'])(
    'signing out is seen by the tabs that have tokens of their own (%s)',
    async (storage) => {
      const [page, other] = [await openSignedIn(`/${storage}`), await openSignedIn(`/${storage}`)];
      await page.evaluate('session.signOut()');
      await untilReceived(other, [true, false]);
      await until(
        () => site.revoked,
        ({ length }) => length === 2,
      );
      expect(new Set(site.revoked).size).toBe(2);
    },
  );

  test('an error in a listener affects neither the session nor the next listener', async () => {
    const page = await openSignedIn();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    await page.evaluate(`session.onChange(() => { throw new Error('of a listener'); })`);
    await page.evaluate('session.onChange((isSignedIn) => received.push(isSignedIn))');
    await page.evaluate('session.signOut()');
    expect([await page.evaluate('received'), site.revoked.length]).toEqual([[true, false, false], 1]);
    await until(
      () => errors,
      ({ length }) => length === 1,
    );
    expect(errors).toEqual(['of a listener']);
  });

  test('a duplicated tab does not use a spent refresh token', async () => {
    const page = await openSignedIn('/tab');
    const copied = await page.evaluate('({ ...sessionStorage })');
    const twin = await openTab('/tab');
    await twin.evaluate(
      (entries) => Object.assign(Reflect.get(globalThis, 'sessionStorage'), entries),
      copied,
    );
    await twin.reload();
    expect(await started(twin)).toBe(true);
    site.endAccess();
    expect(await read(page)).toBe(7);
    expect([await isSignedIn(page), await isSignedIn(twin), await read(twin)]).toEqual([true, false, 7]);
    expect(site.isReused()).toBe(false);
  });

  test('a page that is reloaded while it exchanges its code does not use the code again', async () => {
    const page = await openTab();
    const opened = Promise.withResolvers<void>();
    site.gate = opened.promise;
    await page.evaluate('void session.signIn()');
    await until(grants, ({ length }) => length === 1);
    await page.reload();
    expect(await started(page)).toBe(false);
    opened.resolve();
    site.gate = Promise.resolve();
    expect([await signIn(page), grants()]).toEqual([true, ['authorization_code', 'authorization_code']]);
  });

  test.each([
    [
      'access_denied',
      { error: 'access_denied', error_description: 'Ada does not want to' },
      'Ada does not want to',
    ],
    [
      'issuer_mismatch',
      { code: 'one', iss: 'https://evil.example' },
      /^the response has the issuer https:\/\/evil\.example, not http/,
    ],
    [
      'state_mismatch',
      { code: 'one', state: 'another' },
      'this tab did not start this sign-in: sign in again',
    ],
  ])('an answer that is %s is refused, and leaves the address', async (code, answer, message) => {
    site.answer = answer;
    const page = await openTab('/browser?tag=a');
    expect(await signIn(page)).toEqual({ code, message: expect.stringMatching(message) });
    expect([
      new URL(page.url()).searchParams.has('state'),
      site.forms.length,
      await isSignedIn(page),
    ]).toEqual([false, 0, false]);
    site.answer = undefined;
    expect(await signIn(page)).toBe(true);
  });

  test('a forged address does not end the session', async () => {
    await openSignedIn();
    const page = await openTab('/browser?code=one&state=two&tag=a');
    expect([page.url(), await page.evaluate('started')]).toEqual([`${site.url}/browser?tag=a`, true]);
  });

  test('with DPoP each attempt has its own proof, by the server’s clock and with its nonces', async () => {
    site.aheadS = 3_600;
    site.troubles.push('nonce');
    const page = await openSignedIn('/dpop');
    site.isNonceDemanded = true;
    expect([await read(page), await read(page)]).toEqual([7, 7]);
    site.endAccess();
    expect([await read(page), grants().length]).toEqual([7, 3]);
    expect(new Set(site.proofs.map(({ jti }) => jti)).size).toBe(site.proofs.length);
    const token = site.sent.at(-1)?.replace(/^DPoP /, '') ?? '';
    expect(site.proofs.at(-1)).toMatchObject({
      htm: 'GET',
      htu: `${site.url}/articles/7`,
      nonce: 'of-articles',
      ath: createHash('sha256').update(token).digest('base64url'),
    });
    const aheadS = Number(site.proofs.at(-1)?.iat) - Date.now() / 1_000;
    expect(Math.abs(aheadS - 3_600)).toBeLessThan(60);
    // Neither the page nor an injected script can export the key.
    expect(
      await page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open('annals', 1);
      opening.onsuccess = () => {
        const reading = opening.result.transaction('kept').objectStore('kept').get('annals ' + location.origin + ' page key');
        reading.onsuccess = () => resolve(reading.result.privateKey.extractable);
      };
    })`),
    ).toBe(false);
  });
});
