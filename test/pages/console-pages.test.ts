// Takes minutes, so it starts first.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { routeOf, VIEWS, type View } from '../../console/app/base/paths.ts';
import { developRoutes } from '../../develop/routes.ts';
import { until } from '../../testing/until.ts';
import { describeInChromium, lookAt } from '../engines/chromium.ts';
import { care } from '../toy/care.ts';
import { test as base } from './console-window.ts';

const DESKTOP = { width: 1280, height: 850 };
const PHONE = { width: 390, height: 844 };
const LOOKS = [
  ['desktop', DESKTOP, 'light'],
  ['desktop', DESKTOP, 'dark'],
  ['phone', PHONE, 'light'],
  ['phone', PHONE, 'dark'],
  ['tablet', { width: 720, height: 1_000 }, 'dark'],
  // A tablet at twice the size.
  ['zoomed', { width: 360, height: 500 }, 'light'],
] as const;

/** The pages of development, too, on the files of an example. */
const developed = { ...care, develops: true } as const;
const LISTED = 'examples/expenses/domain/domain.ts';

/** With this number, comments, claims or reports get a page of their own. */
const MANY = 11;

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    {
      of: { domain: developed, routes: developRoutes({ files: [LISTED], domain: developed }, undefined) },
    },
  )
  /** Creates content for each page. */
  .extend('content', { scope: 'file' }, async ({ ask, operator }) => {
    const { token } = operator;
    const make = async (path: string, body: object = {}): Promise<number> => {
      const made = await ask('POST', path, { token, body });
      expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
      return (made.body as { id: number }).id;
    };
    const visit = await make('/visits', { reason: 'Dizzy', place: 'home', minutes: 45 });
    await make(`/visits/${visit}/needs`, { need: 'A chair', minutes: 5 });
    for (let count = 0; count < MANY; count += 1)
      await make(`/visits/${visit}/reports`, { summary: `Report ${count}` });
    await make('/audit/verifications');
    const webhook = await make('/webhooks', { url: 'http://127.0.0.1:9/', eventTypes: ['visit.asked'] });
    await make(`/webhooks/${webhook}/test`);
    await until(
      async () => (await ask('GET', `/webhooks/${webhook}/deliveries`, { token })).body as readonly unknown[],
      ({ length }) => length > 0,
    );
  })
  .extend('desktop', { scope: 'file' }, ({ content: _written, operator, signIn }) => {
    const options = { viewport: DESKTOP, reducedMotion: 'reduce' } as const;
    return signIn(operator, { size: 'desktop', options }, '/console', 'Overview');
  })
  /** Opens a typed address; returns the time until its content was there. */
  .extend(
    'visit',
    { scope: 'file' },
    ({ desktop: { page }, installation }) =>
      async (address: string): Promise<number> => {
        const startedAtMs = performance.now();
        await page.goto(`${installation.url}${address}`);
        await page.locator('main h1').waitFor();
        await page.locator('main .waiting').first().waitFor({ state: 'detached' });
        return performance.now() - startedAtMs;
      },
  )
  /** Follows links to one page of each kind; for views, to the one with the most content. */
  .extend('addresses', { scope: 'file' }, async ({ desktop: { page }, visit }) => {
    const addresses = new Map<View, string>();
    const took: string[] = [];
    const most = new Map<View, number>();
    const seen = new Set<string>();
    const queue = ['/console'];
    for (const address of queue) {
      const { view, parameters } = routeOf(address.split('?')[0] ?? '', '');
      const what = `${view} ${parameters.kind ?? ''}`;
      if (view === 'unknown' || seen.has(what)) continue;
      seen.add(what);
      const tookMs = await visit(address);
      took.push(`${what.trim()}: ${Math.round(tookMs)} ms`);
      const size = await page.locator('main *').count();
      if (size > (most.get(view) ?? 0)) addresses.set(view, address);
      most.set(view, Math.max(size, most.get(view) ?? 0));
      queue.push(...(await page.locator('a[href^="/console"]').evaluateAll(hrefs)));
    }
    console.info(`From the address to the content:\n${took.join('\n')}`);
    return addresses;
  });

/** Every page of the router, in an installation with content for each. */
describeInChromium('every page of the console', () => {
  test('can be reached by links', ({ addresses }) => {
    expect(VIEWS.filter((view) => !addresses.has(view))).toEqual([]);
  });

  test.for(VIEWS)(
    '%s is accessible, also by keyboard alone',
    async (view, { addresses, visit, desktop: { page, complaints } }) => {
      await visit(addresses.get(view) ?? '/console');
      for (const [size, viewport, colorScheme] of LOOKS) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await lookAt(page, `console-page-${view}-${size}-${colorScheme}`);
      }
      await page.setViewportSize(DESKTOP);
      await expectReachable(page);
      expect(complaints).toEqual([]);
    },
  );
});

const hrefs = (links: readonly { getAttribute(name: string): string | null }[]) =>
  links.map((link) => link.getAttribute('href') ?? '');

/** Interactive elements. Tab visits one of a group of radio buttons. */
const CONTROLS = 'a[href], button, input:not([type=radio]:not(:checked)), select, textarea, summary';

/** Tab reaches everything that a mouse can click. */
const expectReachable = async (page: Page): Promise<void> => {
  const all = await page.evaluate<number>(`{
    document.activeElement?.blur();
    const seen = [...document.querySelectorAll('${CONTROLS}')].filter((each) => each.checkVisibility() && !each.disabled);
    for (const each of seen) each.setAttribute('data-to-reach', '');
    seen.length;
  }`);
  let left = all;
  for (let count = 0; count < all * 2 && left > 0; count += 1) {
    await page.keyboard.press('Tab');
    left = await page.evaluate<number>(`{
      document.activeElement.removeAttribute('data-to-reach');
      document.querySelectorAll('[data-to-reach]').length;
    }`);
  }
  const unreached = await page.locator('[data-to-reach]').evaluateAll(outsides);
  expect(unreached, await page.title()).toEqual([]);
};

const outsides = (elements: readonly { readonly outerHTML: string }[]) =>
  elements.map(({ outerHTML }) => outerHTML.slice(0, 200));
