import { test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { rootRoutes } from '#edge/http/root.ts';
import { loadAdditions } from '#process/part.ts';
import { ALL_PARTS } from '../../parts.ts';
import { queryLinksOf } from '../../query/service.ts';
import {
  describeInChromium,
  expectAccessible,
  expectFitting,
  launchChromium,
  picture,
} from '../engines/chromium.ts';
import { serveRoutes } from '../serve.ts';

const ROUTES = rootRoutes({
  version: '1.2.3',
  domain: publishing,
  links: queryLinksOf(publishing, await loadAdditions(ALL_PARTS, 'query')),
  offersDemo: async () => true,
});

describeInChromium('the first page in Chromium', () => {
  test.each([
    ['desktop', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' }],
    ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
  ] as const)('on a %s it is accessible, fits, and leads to the console', async (size, options) => {
    await using server = await serveRoutes(ROUTES);
    await using chromium = await launchChromium();
    const page = await chromium.newPage(options);
    await page.goto(server.url);
    await page.getByRole('heading', { name: 'Publishing', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Sign in to the console' }).waitFor();
    await expectFitting(page);
    await picture(page, `root-${size}`);
    await expectAccessible(page);
  });
});
