import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { describeInChromium, expectAccessible, expectFitting, picture, SIZES } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { test as base } from './chromium-fixture.ts';

/** `/docs/playground`: lines of the client, run against the installation that serves the page. */
const test = base
  .extend('article', { scope: 'file' }, ({ ada, create }) =>
    create('/articles', ada, { title: 'Notes on the engine', body: 'It weaves.', publish: true }),
  )
  .extend('options', {} as BrowserContextOptions)
  .extend('context', async ({ chromium, options }, { onCleanup }) => {
    const context = await chromium.newContext(options);
    context.setDefaultTimeout(scaled(30_000));
    onCleanup(() => context.close());
    return context;
  })
  .extend('page', async ({ article: _listed, context, installation }) => {
    const page = await context.newPage();
    await page.goto(`${installation.origin}/docs/playground`);
    return page;
  });

const lines = (page: Page) => page.getByLabel('Lines (Ctrl + Enter runs them)');
const run = async (page: Page, code: string, outcome: string) => {
  await lines(page).fill(code);
  await page.getByRole('button', { name: 'Run' }).click();
  await page.locator('#status', { hasText: outcome }).waitFor();
  return (await page.locator('#output').textContent()) ?? '';
};
const requests = (page: Page) => page.locator('#requests summary').allTextContents();

describeInChromium('the playground in Chromium', () => {
  describe.each(SIZES)('on a %s', (size, options) => {
    test.override({ options });

    test('an example runs by the keyboard alone, and the page fits and is accessible', async ({ page }) => {
      const complaints: string[] = [];
      page.on('pageerror', (error) => void complaints.push(String(error)));
      await page.getByLabel('Example').focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Control+Enter');
      await page.locator('#status', { hasText: 'Done.' }).waitFor();
      expect(await page.locator('#output').textContent()).toContain('Notes on the engine');
      expect(await requests(page)).toEqual([expect.stringMatching(/^GET \/articles.* → 200$/)]);
      await page.locator('#requests summary').first().click();
      await picture(page, `playground-${size}`);
      await expectFitting(page);
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    });
  });

  test('a refusal shows its code and its fields, and unknown collections the nearest name', async ({
    page,
  }) => {
    const refused = await run(page, `await client.articles.create({ title: '' });`, 'Refused.');
    expect(refused).toContain('unauthenticated');
    expect(await requests(page)).toEqual([expect.stringMatching(/^POST \/articles → 401$/)]);
    expect(await run(page, 'await client.artikles.get(7);', 'Refused.')).toContain(
      'did you mean “articles”?',
    );
    expect(await run(page, 'this is no JavaScript', 'Refused.')).toContain('SyntaxError');
  });

  test('signed in, the lines have the rights of the user; followed events stop with a button', async ({
    ada,
    context,
    page,
  }) => {
    const opened = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const popup = await opened;
    await signInOn(popup, ada);
    await popup.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByText('Signed in: your rights count.').waitFor();
    expect(await run(page, 'show((await client.me()).name);', 'Done.')).toBe('Ada');
    const text = `const { id } = await client.articles.create({ title: 'Played', body: '' });
for await (const { type } of client.follow({ types: ['article.*'], subject: 'article-' + id, since: '2026-01-01T00:00:00Z' })) show(type);`;
    await lines(page).fill(text);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('#output', { hasText: 'article.drafted' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('#status', { hasText: 'Stopped.' }).waitFor();
    expect(await page.locator('iframe').count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('Nobody is signed in').waitFor();
  });

  test('the lines reach neither tokens nor the page, and send nothing elsewhere', async ({ page }) => {
    const attacks = [
      'localStorage.getItem("x")',
      'sessionStorage.length',
      'indexedDB.open("annals")',
      'document.cookie',
      'parent.document.title',
      'await fetch("/articles")',
      'await fetch("https://elsewhere.example/")',
      'await import("https://elsewhere.example/x.js")',
    ];
    for (const attack of attacks) {
      const output = await run(page, `show('got ' + JSON.stringify(${attack}));`, 'Refused.');
      expect(output, attack).not.toContain('got');
    }
    const elsewhere = `await client.request('GET', '//elsewhere.example/');`;
    expect(await run(page, elsewhere, 'Refused.')).toContain('a path must begin with exactly one');
    expect(await requests(page)).toEqual([]);
  });
});
