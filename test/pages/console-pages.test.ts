// Takes minutes, so it starts first.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { placeOf, VIEWS, type View } from '../../query/console/app/paths.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { describeInChromium, launchChromium, lookAt } from '../engines/chromium.ts';
import { signInOn, signUpOperator } from '../engines/console.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { care } from '../toy/care.ts';

const DESKTOP = { width: 1280, height: 850 };
const PHONE = { width: 390, height: 844 };
const LOOKS = [
  ['desktop', DESKTOP, 'light'],
  ['desktop', DESKTOP, 'dark'],
  ['phone', PHONE, 'light'],
  ['phone', PHONE, 'dark'],
  // At twice the size.
  ['zoomed', { width: 640, height: 425 }, 'light'],
] as const;

/** With this number, comments, claims or reports get a page of their own. */
const MANY = 11;

/** Every page of the router, in an installation with content for each. */
describeInChromium('every page of the console', () => {
  const open = new AsyncDisposableStack();
  let installation: Installation;
  let page: Page;
  /** An address of each page, found by following links from the first one. */
  const addresses = new Map<View, string>();
  const took: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    installation = open.use(await startInstallation({ of: { domain: care, main: 'test/toy/care-main.ts' } }));
    const operator = await fill(installation);
    const chromium: Browser = await launchChromium();
    open.defer(() => chromium.close());
    page = await chromium.newPage({ viewport: DESKTOP, reducedMotion: 'reduce' });
    page.setDefaultTimeout(scaled(10_000));
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await signIn(page, installation.url, operator);
    await followLinks();
  });
  afterAll(() => open.disposeAsync());

  /** Opens a typed address; returns the time until its content was there. */
  const visit = async (address: string): Promise<number> => {
    const startedAtMs = performance.now();
    await page.goto(`${installation.url}${address}`);
    await page.locator('main h1').waitFor();
    await page.locator('main .waiting').first().waitFor({ state: 'detached' });
    return performance.now() - startedAtMs;
  };

  /** Finds one page of each kind; for views, the one with the most content. */
  const followLinks = async (): Promise<void> => {
    const most = new Map<View, number>();
    const seen = new Set<string>();
    const queue = ['/console'];
    for (const address of queue) {
      const { view, parameters } = placeOf(address.split('?')[0] ?? '', '');
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
  };

  test('can be reached by links', () => {
    expect(VIEWS.filter((view) => !addresses.has(view))).toEqual([]);
  });

  test.each(VIEWS)('%s is accessible, also by keyboard alone', async (view) => {
    await visit(addresses.get(view) ?? '/console');
    for (const [size, viewport, colorScheme] of LOOKS) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await lookAt(page, `console-page-${view}-${size}-${colorScheme}`);
    }
    await page.setViewportSize(DESKTOP);
    await expectReachable(page);
    expect(complaints).toEqual([]);
  });
});

const hrefs = (links: readonly { getAttribute(name: string): string | null }[]) =>
  links.map((link) => link.getAttribute('href') ?? '');

/** As a user who may see all of it. */
const fill = async (installation: Installation): Promise<Person> => {
  const ask = restClientOf(installation);
  const operator = await signUpOperator(installation, await openPeople(installation));
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
  return operator;
};

const signIn = async (page: Page, url: string, { email }: Person): Promise<void> => {
  await page.goto(`${url}/console`);
  await signInOn(page, { email });
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
};

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
