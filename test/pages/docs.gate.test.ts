// Takes minutes, so it starts first.
import { expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import {
  describeInChromium,
  expectAccessible,
  expectFitting,
  expectStill,
  picture,
  sizesOf,
} from '../engines/chromium.ts';
import { DESKTOP, docsInChromium, PHONE, SIZES } from './docs-visit.ts';

/** One of each kind. */
const PAGES = [
  ['/docs', 'Annals'],
  ['/docs/rest', 'REST'],
  ['/docs/graphql', 'GraphQL'],
  ['/docs/events', 'Events'],
  ['/docs/errors', 'Errors'],
  ['/docs/scopes', 'Scopes'],
  ['/docs/webhook-verification', 'Verifying webhooks'],
  ['/docs/settings', 'Settings'],
  ['/docs/guides/changes', 'Following changes'],
  ['/docs/guides/architecture', 'Architecture'],
  ['/docs/guides/domain', 'Declare a domain'],
  ['/docs/examples/receive-webhook.js', 'receive-webhook.js'],
] as const;

describeInChromium('the documentation in Chromium', () => {
  const docs = docsInChromium();

  test.each(sizesOf(SIZES, 'phone'))(
    'on a %s every kind of page is accessible, fits, and does not move',
    (size, options) =>
      docs.visit(options, async (page) => {
        for (const [path, heading] of PAGES) {
          await page.goto(`${docs.url}${path}`);
          await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor();
          await expectFitting(page);
          await expectStill(page);
          await picture(page, `docs-${size}-${path.split('/').at(-1)}`);
          await expectAccessible(page);
        }
      }),
  );

  test('one navigates by keyboard, and on a phone by a menu', async () => {
    await docs.visit(DESKTOP, async (page) => {
      await page.goto(`${docs.url}/docs/guides/chaos`);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
      const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current="page"]');
      expect(await current.textContent()).toBe('Chaos');
      // However far down it is in the navigation.
      const isInSight = () =>
        page.evaluate<boolean>(
          "document.querySelector('.side [aria-current]').getBoundingClientRect().bottom <= innerHeight",
        );
      await until(isInSight, (seen) => seen);
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: 'Webhooks', exact: true })
        .click();
      await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
    });
    await docs.visit(PHONE, async (page) => {
      await page.goto(`${docs.url}/docs`);
      expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
      await page.getByText('Pages', { exact: true }).tap();
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: 'Events', exact: true })
        .tap();
      await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    });
  });

  test('typing filters the entries, and a link to another page shows all again', () =>
    docs.visit(DESKTOP, async (page) => {
      await page.goto(`${docs.url}/docs/graphql`);
      const find = page.getByLabel('Find a type or a field');
      await find.fill('missedSince');
      await page
        .getByRole('status')
        .getByText(/^\d+ of \d+$/)
        .waitFor();
      await page.getByRole('heading', { name: 'Webhook Link' }).waitFor();
      expect(await page.getByRole('heading', { name: 'Comment Link' }).count()).toBe(0);
      expect(await page.getByRole('heading', { name: 'Unions' }).count()).toBe(0);
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Unions' }).click();
      await page.getByRole('heading', { name: 'Unions' }).waitFor();
      expect(await find.inputValue()).toBe('');
    }));

  test('without scripts all of it can be read', () =>
    docs.visit({ ...DESKTOP, javaScriptEnabled: false }, async (page) => {
      await page.goto(`${docs.url}/docs/rest`);
      await page.getByText('Change an article', { exact: true }).click();
      await page.locator('[data-operation="editArticle"]').locator('[data-code="412"]').waitFor();
      expect(await page.locator('[data-operation="editArticle"]').getByRole('button').count()).toBe(0);
      await page.goto(`${docs.url}/docs/events`);
      await page.getByRole('heading', { name: 'article.published' }).waitFor();
      expect(await page.getByLabel('Find a type or a field').isVisible()).toBe(false);
    }));

  test.each(SIZES)('on a %s one searches all pages, by keyboard alone', (size, options) =>
    docs.visit(options, async (page) => {
      await page.goto(`${docs.url}/docs/guides/changes`);
      await page.keyboard.press('/');
      const search = page.getByLabel('Search', { exact: true });
      expect(await page.evaluate('document.activeElement.id')).toBe('site-search');
      await page.keyboard.type('zyzzyva');
      await page.getByText('Nothing found').waitFor();
      await search.fill('version mism');
      await page.getByText(/^\d+ found$/).waitFor();
      await picture(page, `docs-search-${size}`);
      await expectAccessible(page);
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/docs/errors#version_mismatch');
      await page.keyboard.press('/');
      await page.keyboard.type('webhook');
      await page.locator('.site-search li').first().waitFor();
      await page.keyboard.press('Escape');
      expect(await search.inputValue()).toBe('');
    }),
  );

  test('commands have a prompt that is not copied, and output has no button', () =>
    docs.visit({ ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      await page.goto(`${docs.url}/docs/guides/tutorial`);
      const step = page.locator('.code', { hasText: '/readyz' }).first();
      await step.getByRole('button', { name: 'Copy' }).click();
      await step.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).not.toContain('$ ');
      await page.locator('pre.output', { hasText: '{"status":"ready"' }).waitFor();
      expect(await page.locator('.code pre.output').count()).toBe(0);
    }));

  test('a block of code is copied by its button', () =>
    docs.visit({ ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      await page.goto(`${docs.url}/docs/guides/contributing`);
      await page.getByRole('button', { name: 'Copy' }).first().click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^npm run check /);
    }));

  test('an unknown address is a page with the search', () =>
    docs.visit(DESKTOP, async (page) => {
      // The browser reports every 404, which is no fault of the page.
      const response = await page.request.get(`${docs.url}/docs/guides/unknown`, {
        headers: { Accept: 'text/html' },
      });
      await page.setContent(await response.text());
      await page.getByRole('heading', { name: 'Not found', level: 1 }).waitFor();
    }));
});
