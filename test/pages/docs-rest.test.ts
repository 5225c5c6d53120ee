// Takes minutes, so it starts first.
import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import {
  describeInChromium,
  expectAccessible,
  expectFitting,
  expectStill,
  picture,
} from '../engines/chromium.ts';
import { DESCRIBED } from '../engines/operations.ts';
import { DEADLINE_MS, DESKTOP, docsInChromium, SIZES } from './docs-visit.ts';

/** The requested part is within this distance of the window's top. */
const PART_OF_WINDOW_PX = 120;

const operationIn = (page: Page, id: string): Locator => page.locator(`[data-operation="${id}"]`);

describeInChromium('the reference of REST in Chromium', () => {
  const docs = docsInChromium();

  test.each(SIZES)(
    'on a %s the reference shows every operation, and each opens to its parameters and answers',
    (size, options) =>
      docs.visit(options, async (page) => {
        await page.goto(`${docs.url}/docs/rest`);
        const shown = await page.locator('details.operation .summary').allInnerTexts();
        expect(shown).toEqual(expect.arrayContaining(Object.values(DESCRIBED).map(({ summary }) => summary)));
        // Beside the resources, the pictures and their signed addresses.
        expect(await page.locator('details.operation').count()).toBe(Object.keys(DESCRIBED).length + 2);
        await page.getByText('Change an article', { exact: true }).click();
        const operation = operationIn(page, 'editArticle');
        await operation.getByText('If-Match', { exact: true }).waitFor();
        await operation.getByText('write:articles', { exact: true }).waitFor();
        await operation.getByRole('link', { name: 'ArticlePatch' }).waitFor();
        await operation.locator('[data-code="412"]').waitFor();
        expect(new URL(page.url()).hash).toBe('#/Articles/editArticle');
        await picture(page, `docs-${size}-rest-operation`);
        await expectStill(page);
        await expectAccessible(page);
        await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
        await expectFitting(page);
        expect(
          await page.evaluate(
            "typeof window.SwaggerUIBundle + performance.getEntriesByType('resource').length",
          ),
        ).toMatch(/^undefined\d$/);
      }),
  );

  test.each(SIZES)(
    'on a %s an operation can be tried by keyboard, in place, without layout shifts',
    (size, options) =>
      docs.visit(options, async (page) => {
        await page.goto(`${docs.url}/docs/rest#/Articles/editArticle`);
        const operation = operationIn(page, 'editArticle');
        await operation.getByRole('button', { name: 'Try it: Change an article' }).press('Enter');
        await operation.getByRole('status').getByText('Ready: fill it in, and press Execute.').waitFor();
        expect(await operation.getByRole('button', { name: 'Try it' }).getAttribute('aria-pressed')).toBe(
          'true',
        );
        expect(await operation.locator('.described').isVisible()).toBe(false);
        expect(await operation.locator('.opblock').count()).toBe(1);
        await operation.getByRole('button', { name: 'Authorize' }).waitFor();
        await operation.getByRole('button', { name: 'Execute' }).waitFor();
        expect(await operation.getByRole('textbox', { name: /articleId|If-Match/i }).count()).toBeGreaterThan(
          0,
        );
        expect(await operation.locator('textarea').inputValue()).toContain('On analytical engines');
        await picture(page, `docs-${size}-rest-try`);
        await expectFitting(page);
        await expectStill(page);
        await page.evaluate(axe.source);
        // Swagger UI's own markup is not ours to fix.
        const { violations } = await page.evaluate<{ violations: readonly object[] }>(
          `axe.run({ exclude: ['.trying'] }, { resultTypes: ['violations'] })`,
        );
        expect(violations).toEqual([]);
        await operation.getByRole('button', { name: 'Try it' }).press('Enter');
        await operation.locator('.described').waitFor();
        expect(await operation.getByRole('button', { name: 'Execute' }).isVisible()).toBe(false);
      }),
  );

  test('an operation of each kind is rendered completely from its part of the description', () =>
    docs.visit(DESKTOP, async (page) => {
      await page.goto(`${docs.url}/docs/rest`);
      for (const id of [
        'listArticles',
        'putCover',
        'addComment',
        'editUser',
        'listEvents',
        'replayWebhook',
        'exportLog',
        'releaseParkedItem',
      ]) {
        const operation = operationIn(page, id);
        await operation.locator('summary').click();
        await operation.getByRole('button', { name: 'Try it' }).click();
        await operation.getByRole('button', { name: 'Execute' }).waitFor();
        expect(await operation.locator('.trying').textContent()).not.toMatch(
          /could not resolve|resolver error|Unknown Type/i,
        );
      }
    }));

  test('missing parts of an operation’s trial are loaded again', async () => {
    const context = await docs.chromium.newContext(DESKTOP);
    const page = await context.newPage();
    page.setDefaultTimeout(scaled(DEADLINE_MS));
    await page.route('**/swagger-ui.js', (route) => route.abort());
    await page.goto(`${docs.url}/docs/rest#/Articles/editArticle`);
    const operation = operationIn(page, 'editArticle');
    await operation.getByRole('button', { name: 'Try it' }).click();
    await operation.getByRole('status').getByText('It could not be loaded. Press again.').waitFor();
    expect(await operation.locator('.described').isVisible()).toBe(true);
    await page.unroute('**/swagger-ui.js');
    await operation.getByRole('button', { name: 'Try it' }).click();
    await operation.getByRole('button', { name: 'Execute' }).waitFor();
    await context.close();
  });

  test.each(SIZES)('on a %s the operation in the address is open, also by its former address', (_, options) =>
    docs.visit(options, async (page) => {
      await page.goto(`${docs.url}/docs#/Webhooks/createWebhook`);
      await page.waitForURL('**/docs/rest#/Webhooks/createWebhook');
      const operation = operationIn(page, 'createWebhook');
      await operation.getByText('Idempotency-Key', { exact: true }).waitFor();
      const top = async () => (await operation.boundingBox())?.y ?? -1;
      await until(top, (px) => px >= 0 && px < PART_OF_WINDOW_PX);
      await expectStill(page);
      await page.evaluate("location.hash = '#/Users/getMe'");
      await operationIn(page, 'getMe').locator('[data-code="401"]').waitFor();
    }),
  );

  test('the language of examples is chosen by keyboard, for all of them, and is kept', () =>
    docs.visit(DESKTOP, async (page) => {
      await page.goto(`${docs.url}/docs/rest#/Articles/editArticle`);
      const operation = operationIn(page, 'editArticle');
      await operation
        .getByRole('tabpanel', { name: 'curl' })
        .getByText('http://localhost:4000/articles/8001')
        .waitFor();
      expect(await operation.getByRole('tabpanel').count()).toBe(1);
      await operation.getByRole('tab', { name: 'curl' }).press('ArrowRight');
      await operation
        .getByRole('tabpanel', { name: 'TypeScript' })
        .getByText('client.articles.edit(8001,')
        .waitFor();
      expect(await operation.getByRole('tab', { name: 'TypeScript' }).getAttribute('aria-selected')).toBe(
        'true',
      );
      await page.keyboard.press('End');
      await operation.getByRole('tabpanel', { name: 'GraphQL' }).getByText('updatePost').waitFor();
      await picture(page, 'docs-rest-tabs');
      await page.reload();
      await operation.getByRole('tabpanel', { name: 'GraphQL' }).waitFor();
      // An operation without a GraphQL field keeps its own first example.
      await operationIn(page, 'listWebhooks').locator('summary').click();
      await operationIn(page, 'listWebhooks').getByRole('tabpanel', { name: 'curl' }).waitFor();
    }));

  test('without scripts the examples are listed one below the other', () =>
    docs.visit({ ...DESKTOP, javaScriptEnabled: false }, async (page) => {
      await page.goto(`${docs.url}/docs/rest`);
      const operation = operationIn(page, 'editArticle');
      await operation.locator('summary').click();
      for (const part of ['curl -X PATCH', 'client.articles.edit', 'updatePost'])
        await operation.getByText(part).first().waitFor();
      expect(await operation.getByRole('tab').count()).toBe(0);
    }));

  test('an operation is found by its name, its path, or its method', () =>
    docs.visit(DESKTOP, async (page) => {
      await page.goto(`${docs.url}/docs/rest`);
      await page.getByLabel('Find an operation').fill('delete /art');
      await page
        .getByRole('status')
        .getByText(/^\d+ of \d+$/)
        .waitFor();
      expect(await page.locator('details.operation:visible').count()).toBe(2);
      expect(await page.getByRole('heading', { name: 'Comments', exact: true }).count()).toBe(0);
      await page.getByLabel('Find an operation').fill('retitle nothing');
      expect(await page.locator('main :is(h2, details.operation, .entry):visible').count()).toBe(0);
    }));
});
