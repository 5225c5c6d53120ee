import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '#shared/rest/operations.ts';
import { docsRoutes } from '../../query/docs/routes.ts';
import { openApiRoutes } from '../../query/openapi/routes.ts';
import { chromiumMissing, expectFitting, launchChromium, picture } from '../engines/chromium.ts';
import { until } from '../engines/until.ts';
import { type Served, serveRoutes } from '../serve.ts';

const missing = chromiumMissing();
if (missing !== undefined) console.warn(`test/pages/docs.test.ts is skipped, because ${missing}.`);

const OPTIONS = { publicUrl: 'http://localhost:4000', issuerUrl: 'http://localhost:4000', requireIfMatch: false };
const DEADLINE_MS = 30_000;
/** As its icon is; a narrow window must not squeeze it. */
const COPY_BUTTON_PX = 24;

const SIZES = [
  ['desktop', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
  ['phone', { viewport: { width: 360, height: 740 }, colorScheme: 'dark', isMobile: true, hasTouch: true, deviceScaleFactor: 2 }],
] as const;

let server: Served;
beforeAll(async () => {
  server = await serveRoutes(openApiRoutes(OPTIONS), docsRoutes(OPTIONS));
});
afterAll(() => server?.[Symbol.asyncDispose]());

describe.skipIf(missing !== undefined)('the reference in Chromium', () => {
  let chromium: Browser;
  beforeAll(async () => {
    chromium = await launchChromium();
  });
  afterAll(() => chromium?.close());

  test.each(SIZES)(
    'on a %s it shows every operation, loads nothing from elsewhere, and the browser has nothing to complain of',
    async (size, options) => {
      const context = await chromium.newContext(options);
      const page = await context.newPage();
      page.setDefaultTimeout(DEADLINE_MS);
      const complaints: string[] = [];
      const elsewhere: string[] = [];
      page.on('console', (message) => void (['error', 'warning'].includes(message.type()) && complaints.push(message.text())));
      page.on('pageerror', (error) => void complaints.push(String(error)));
      page.on(
        'request',
        (request) =>
          void (new URL(request.url()).origin === server.url || request.url().startsWith('data:') || elsewhere.push(request.url())),
      );
      await page.goto(`${server.url}/docs`);
      for (const { summary } of Object.values(OPERATIONS)) await page.getByText(summary, { exact: true }).first().waitFor();
      // Beside the resources, the pictures.
      expect(await page.locator('.opblock').count()).toBe(Object.keys(OPERATIONS).length + 1);
      await picture(page, `docs-${size}`);
      await expectFitting(page);
      await page.getByText('Change an article', { exact: true }).click();
      const operation = page.locator('#operations-Articles-editArticle');
      await operation.getByText('If-Match', { exact: true }).waitFor();
      await operation.locator('[data-code="412"]').waitFor();
      await picture(page, `docs-${size}-operation`);
      const longest = page.locator('#operations-Articles-unpublishArticle .opblock-summary');
      await longest.hover();
      const copy = longest.locator('.copy-to-clipboard');
      await until(
        () => copy.evaluate((button) => button.getBoundingClientRect().width),
        (width) => width >= COPY_BUTTON_PX,
      );
      await picture(page, `docs-${size}-hover`);
      await expectFitting(page);
      expect({ complaints, elsewhere }).toEqual({ complaints: [], elsewhere: [] });
      await context.close();
    },
  );
});

test('what the page loads may be kept for good, and the page itself is asked for again cheaply', async () => {
  const page = await fetch(`${server.url}/docs`);
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/);
  const html = await page.text();
  const paths = [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => path);
  expect(paths).toHaveLength(4);
  for (const path of paths) {
    const asset = await fetch(`${server.url}/${path}`);
    expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect([asset.headers.get('content-encoding'), asset.headers.get('vary')]).toEqual(['gzip', 'Accept-Encoding']);
    const plain = await fetch(`${server.url}/${path}`, { headers: { 'Accept-Encoding': 'identity' } });
    expect(await asset.text()).toBe(await plain.text());
  }
  const again = await fetch(`${server.url}/docs`, { headers: { 'If-None-Match': page.headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
});

test.each([
  ['GET', '/docs/', 308],
  ['GET', '/docs/oauth2-redirect.html', 200],
  ['GET', '/docs/assets/unknown/start.js', 404],
  ['POST', '/docs', 405],
])('%s %s is answered by %i', async (method, path, status) => {
  expect((await fetch(`${server.url}${path}`, { method, redirect: 'manual' })).status).toBe(status);
});
