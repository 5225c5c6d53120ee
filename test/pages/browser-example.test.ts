// Over 200 lines, because everything is done on the one installation that is started here.
import { readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { serveBrowserExample } from '../engines/browser-example.ts';
import { describeInChromium, expectAccessible, expectFitting, picture, SIZES } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { operate } from '../engines/installation.ts';
import { startRole } from '../engines/role-process.ts';
import { test as base } from './chromium-fixture.ts';

/** The page of docs/browser.md, used like people use it, on a running system that is killed in between. */
const GUIDE = readFileSync(new URL('../../docs/browser.md', import.meta.url), 'utf8');
const DEADLINE_MS = scaled(60_000);
const READY = 'Annals is ready.';
const eventually = <Value>(look: () => Promise<Value> | Value) => expect.poll(look, { timeout: DEADLINE_MS });

const comment = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Your comment').fill(text);
  await page.getByRole('button', { name: 'Add comment' }).click();
};
const commentsOn = (page: Page) => page.locator('#comments li p:first-child').allTextContents();

/** Holds answers back until it is released. */
const hold = async (page: Page, url: string) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  await page.route(url, async (route) => {
    if (route.request().method() === 'OPTIONS') return route.continue();
    count++;
    await promise;
    // The page may have aborted it.
    await route.continue().catch(() => {});
  });
  return { asked: () => count, release: resolve };
};

const test = base
  .extend('installationOptions', { scope: 'file' }, { ownProcess: true })
  .extend('example', { scope: 'file' }, async ({ installation }, { onCleanup }) => {
    const example = await serveBrowserExample({ ANNALS_URL: installation.origin, PORT: '0' });
    onCleanup(() => example[Symbol.asyncDispose]());
    // By the guide's command, except the port.
    const command = /^npm run annals -- (client create .*)$/m.exec(GUIDE)?.[1] ?? '';
    const words = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    await operate(
      words.map((word) => word.replace('http://localhost:3000', example.url)),
      installation.settings,
    );
    return example;
  })
  .extend('ada', { scope: 'file' }, ({ people }) => people.signUp('Ada Lovelace'))
  .extend('publish', { scope: 'file' }, ({ ada, create }) => (title: string) => {
    const text = 'The engine weaves algebraical patterns.\n\nJust as the loom weaves flowers.';
    return create('/articles', ada, { title, body: text, publish: true });
  })
  .extend('article', { scope: 'file' }, ({ publish }) => publish('Notes on the engine'))
  .extend('options', {} as BrowserContextOptions)
  .extend('context', async ({ chromium, onTestFinished, options }) => {
    const context = await chromium.newContext(options);
    onTestFinished(() => context.close());
    context.setDefaultTimeout(DEADLINE_MS);
    return context;
  })
  .extend('openTab', ({ article: _listed, context, example }) => async (hash = ''): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${example.url}/${hash}`);
    return page;
  })
  .extend('signIn', { scope: 'file' }, ({ ada }) => async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signInOn(page, ada);
    // A third-party application needs the user's consent.
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Ada Lovelace').first().waitFor();
    await page.getByText('Live:').waitFor();
  });

describeInChromium('the page of the guide in Chromium', () => {
  describe.each(SIZES)('on a %s', (size, options) => {
    test.override({ options });

    test('a user reads, signs in, comments and signs out', async ({
      article,
      chromium,
      example,
      openTab,
      signIn,
    }) => {
      const page = await openTab();
      const complaints: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
      page.on('pageerror', (error) => void complaints.push(String(error)));
      const look = async (name: string) => {
        await picture(page, `browser-${size}-${name}`);
        await expectFitting(page);
        await expectAccessible(page, await (await chromium.newContext(options)).newPage());
      };
      await page.getByRole('link', { name: 'Notes on the engine' }).waitFor();
      await look('1-list');
      await page.getByRole('link', { name: 'Notes on the engine' }).click();
      await page.getByRole('heading', { name: 'Notes on the engine' }).waitFor();
      await look('2-article');
      await eventually(() => page.title()).toBe('Notes on the engine – Reading room');
      await page.getByRole('link', { name: 'All articles' }).click();
      await eventually(() => page.evaluate('document.activeElement.textContent')).toBe('Articles');
      expect(await page.title()).toBe('Reading room');
      await page.getByRole('link', { name: 'Notes on the engine' }).click();
      await eventually(() => page.evaluate('document.activeElement.textContent')).toBe('Notes on the engine');
      await signIn(page);
      expect(page.url()).toBe(`${example.url}/#/articles/${article}`);
      const text = `Read on a ${size}`;
      await comment(page, text);
      await eventually(() => commentsOn(page)).toContain(text);
      expect(await page.getByLabel('Your comment').inputValue()).toBe('');
      await look('3-commented');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await eventually(() => page.getByLabel('Your comment').isVisible()).toBe(false);
      expect(complaints).toEqual([]);
    });
  });

  test('an invalid address does not end the server of the page', async ({ example }) => {
    expect((await fetch(`${example.url}//`)).status).toBe(400);
    expect((await fetch(example.url)).status).toBe(200);
  });

  test('without an answer of the server, the sign-in button still works', async ({
    context,
    installation,
    openTab,
  }) => {
    await context.route(`${installation.origin}/**`, (route) => route.abort());
    const page = await openTab();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await eventually(() => page.getByRole('alert').textContent()).toMatch(/^The server cannot be reached/);
  });

  test('a late name is not shown for another user', async ({
    context,
    example,
    installation,
    openTab,
    signIn,
  }) => {
    const one = await openTab();
    await signIn(one);
    const other = await context.newPage();
    const name = await hold(other, `${installation.origin}/me`);
    await other.goto(example.url);
    await eventually(name.asked).toBe(1);
    const isMe = (request: { url(): string }) => request.url().endsWith('/me');
    const over = Promise.race([
      other.waitForEvent('requestfinished', isMe),
      other.waitForEvent('requestfailed', isMe),
    ]);
    await one.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    name.release();
    await over;
    await other.evaluate('new Promise((resolve) => setTimeout(resolve))');
    expect(await other.locator('#who').textContent()).toBe('');
  });

  test('has one stream, however quickly users sign in and out', async ({
    installation,
    openTab,
    publish,
    signIn,
  }) => {
    const [one, other] = [await openTab(), await openTab()];
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    const cursors = await hold(other, `${installation.origin}/graphql`);
    const streams = new Set<unknown>();
    other.on(
      'request',
      (request) =>
        void (request.url().includes('/events?') && request.method() === 'GET' && streams.add(request)),
    );
    const ended = (request: unknown) => void streams.delete(request);
    other.on('requestfinished', ended);
    other.on('requestfailed', ended);
    await signIn(one);
    await eventually(cursors.asked).toBe(1);
    await one.getByRole('button', { name: 'Sign out' }).click();
    await eventually(cursors.asked).toBe(2);
    await one.getByRole('button', { name: 'Sign in' }).click();
    await one.getByRole('button', { name: 'Allow', exact: true }).click();
    await eventually(cursors.asked).toBe(3);
    cursors.release();
    await other.getByText('Live:').waitFor();
    await one.getByText('Live:').waitFor();
    await publish('After all of it');
    await other.getByRole('link', { name: 'After all of it' }).waitFor();
    expect(streams.size).toBe(1);
  });

  test('a user who refuses consent gets a message, and is not signed in', async ({
    ada,
    example,
    openTab,
  }) => {
    const page = await openTab();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signInOn(page, ada);
    await page.getByRole('button', { name: 'Do not allow' }).click();
    await eventually(() => page.getByRole('alert').textContent()).toMatch(/^You did not allow this page/);
    expect(page.url()).toBe(`${example.url}/`);
  });

  test('the tokens are bound to a key of the browser', async ({ article, installation, openTab, signIn }) => {
    const page = await openTab(`#/articles/${article}`);
    const sent = page.waitForRequest(
      (request) => request.url().endsWith('/me') && request.method() === 'GET',
    );
    await signIn(page);
    const { authorization, dpop } = await (await sent).allHeaders();
    expect([authorization?.split(' ')[0], dpop?.split('.').length]).toEqual(['DPoP', 3]);
    const stolen = await fetch(`${installation.origin}/me`, {
      headers: { authorization: authorization?.replace('DPoP', 'Bearer') ?? '' },
    });
    expect(stolen.status).toBe(401);
  });

  test('tabs that renew tokens in parallel all continue, and changes in one appear in the other', async ({
    article,
    context,
    openTab,
    signIn,
  }) => {
    const tabs = [await openTab(`#/articles/${article}`)];
    await signIn(tabs[0] as Page);
    tabs.push(await openTab(`#/articles/${article}`), await openTab(`#/articles/${article}`));
    const [one, ...others] = tabs as [Page, ...Page[]];
    for (const tab of tabs) await tab.getByText('Live:').waitFor();
    let renewals = 0;
    context.on('request', (request) => {
      if (request.url().endsWith('/token')) renewals++;
    });
    for (let round = 1; round <= 3; round++) {
      await one.evaluate(TOKENS_RUN_OUT);
      await Promise.all(tabs.map((tab) => tab.reload()));
      for (const tab of tabs) await tab.getByText('Live:').waitFor();
      expect(renewals).toBe(round);
    }
    await comment(one, 'Seen everywhere');
    for (const tab of others) await eventually(() => commentsOn(tab)).toContain('Seen everywhere');
    await one.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of others) await tab.getByRole('button', { name: 'Sign in' }).waitFor();
    // The session has not ended, as it would after a repeated refresh token.
    expect(await one.locator('#problem').textContent()).toBe('');
  });

  test('it follows across a kill -9 of the server, and renews its tokens at the next one', async ({
    ada,
    article,
    ask,
    installation,
    openTab,
    signIn,
  }) => {
    const page = await openTab(`#/articles/${article}`);
    await signIn(page);
    await comment(page, 'Before');
    await eventually(() => commentsOn(page)).toContain('Before');
    await installation.query[0]?.kill('SIGKILL');
    let renewals = 0;
    page.on('response', (response) => {
      if (response.url().endsWith('/token') && response.ok()) renewals++;
    });
    await page.evaluate(TOKENS_RUN_OUT);
    // As for a tab that slept, which checks the tokens.
    await page.evaluate(`void dispatchEvent(new Event('pageshow'))`);
    await page.getByLabel('Your comment').fill('Meanwhile');
    await page.getByRole('button', { name: 'Add comment' }).click();
    const { port } = new URL(installation.origin);
    await using serving = startRole('main.ts', { ...installation.settings, PORT: port });
    await serving.logged(READY);
    const problem = () => page.locator('#problem').textContent();
    const seenFirst = await until(
      async () => ({ texts: await commentsOn(page), problem: await problem() }),
      ({ texts, problem }) => texts.includes('Meanwhile') || problem !== '',
      DEADLINE_MS,
    );
    // A busy machine takes longer to start than the page tries. The page says so, and keeps the text for
    // another attempt.
    const isLate = seenFirst.problem !== '';
    if (isLate) await page.getByRole('button', { name: 'Add comment' }).click();
    await eventually(() => commentsOn(page)).toContain('Meanwhile');
    const reply = await ask('POST', `/articles/${article}/comments`, {
      token: ada.token,
      body: { text: 'From elsewhere' },
    });
    expect(reply.status, JSON.stringify(reply.body)).toBe(201);
    const seen = await until(
      () => commentsOn(page),
      (texts) => texts.includes('From elsewhere'),
      DEADLINE_MS,
    );
    if (!isLate) expect(seen.filter((text) => text === 'Meanwhile')).toHaveLength(1);
    // Nobody was signed out.
    expect(renewals).toBe(1);
    expect(await page.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(true);
  });
});

/** Simulates five minutes. */
const TOKENS_RUN_OUT = `new Promise((resolve) => {
  const opening = indexedDB.open('annals', 1);
  opening.onsuccess = () => {
    const transaction = opening.result.transaction('kept', 'readwrite');
    const store = transaction.objectStore('kept');
    const keys = store.getAllKeys();
    keys.onsuccess = () => {
      const key = keys.result.find((name) => name.endsWith(' tokens'));
      const reading = store.get(key);
      reading.onsuccess = () => store.put({ ...reading.result, renewAtMs: 0 }, key);
    };
    transaction.oncomplete = () => resolve(opening.result.close());
  };
})`;
