import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { rootRoutes } from '#shared/http/root.ts';
import { queryLinksOf } from '../../query/service.ts';
import {
  describeInChromium,
  expectAccessible,
  expectFitting,
  launchChromium,
  picture,
} from '../engines/chromium.ts';
import { type Served, serveRoutes } from '../serve.ts';

describeInChromium('the first page in Chromium', () => {
  let chromium: Browser;
  let server: Served;
  beforeAll(async () => {
    server = await serveRoutes(
      rootRoutes({
        version: '1.2.3',
        domain: publishing,
        links: queryLinksOf(publishing),
        offersDemo: async () => true,
      }),
    );
    chromium = await launchChromium();
  });
  afterAll(async () => {
    await chromium?.close();
    await server?.[Symbol.asyncDispose]();
  });

  test.each([
    ['desktop', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
    ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ] as const)('on a %s it is accessible, fits, and leads to the console', async (size, options) => {
    const context = await chromium.newContext(options);
    const page = await context.newPage();
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Publishing', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Sign in to the console' }).waitFor();
    await expectFitting(page);
    await picture(page, `root-${size}`);
    await expectAccessible(page);
    await context.close();
  });
});
