// Takes minutes, so it starts first.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { describeInChromium, launchChromium, lookAt } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';

describeInChromium('the console after a failure', () => {
  const open = new AsyncDisposableStack();
  let installation: Installation;
  let author: Person;
  let chromium: Browser;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    installation = open.use(await startInstallation());
    const people = await openPeople(installation);
    author = await people.signUp('Ada');
    await restClientOf(installation)('POST', '/articles', {
      token: author.token,
      body: { title: 'On engines', body: 'One' },
    });
    chromium = await launchChromium();
    open.defer(() => chromium.close());
    context = await chromium.newContext({ viewport: { width: 1280, height: 850 } });
    context.setDefaultTimeout(scaled(10_000));
    page = await context.newPage();
    await page.goto(`${installation.url}/console`);
    await signInOn(page, author);
    await heading('Data');
  });
  afterAll(() => open.disposeAsync());
  beforeEach(() => context.unrouteAll());

  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  const look = async (name: string) => {
    await lookAt(page, `console-robust-${name}`);
  };

  test('without scripts, the page says what to do', async () => {
    const other = await chromium.newContext({ javaScriptEnabled: false });
    const silent = await other.newPage();
    await silent.goto(`${installation.url}/console`);
    await silent.locator('noscript p').waitFor();
    expect(await silent.getByText('The console is being loaded.').isVisible()).toBe(false);
    await other.close();
  });

  test('until it runs, the page says that it is loading', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await context.route(/\/main\.ts$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${installation.url}/console/data`, { waitUntil: 'commit' });
    await page.getByText('The console is being loaded.').waitFor();
    release();
    await heading('Data');
  });

  test('a module that fails to load is loaded again', async () => {
    await context.route(/\/item\.ts$/, (route) => route.abort());
    await page.goto(`${installation.url}/console/data`);
    await page.getByText('Trying again …').waitFor();
    await context.unrouteAll();
    await heading('Data');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('if that does not help, it says what to do', async () => {
    await context.route(/\/data\/domain\.ts$/, (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(`${installation.url}/console/data`);
    await page.getByText('Check your connection').waitFor();
    await look('not-loaded');
    await context.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading('Data');
  });

  test('an error in one page keeps the navigation, and says what to do', async () => {
    await context.route(/\/articles\?/, (route) =>
      route.fulfill({ contentType: 'application/hal+json', body: '{"_links":{},"_embedded":{}}' }),
    );
    await page.goto(`${installation.url}/console/data/articles`);
    await heading('Error in this page');
    await look('boundary');
    await context.unrouteAll();
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Users' }).click();
    await heading('Users');
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Articles' }).click();
    await page.getByRole('link', { name: 'On engines' }).waitFor();
  });

  test('without live updates a page says so, and polls', async () => {
    const add = (title: string) =>
      restClientOf(installation)('POST', '/articles', { token: author.token, body: { title, body: 'One' } });
    await context.route(/\/events\?/, (route) => route.abort());
    await page.goto(`${installation.url}/console/data/articles`);
    await page.getByText('not live', { exact: true }).waitFor();
    await add('While it was cut off');
    await page.getByRole('link', { name: 'While it was cut off' }).waitFor();
    await look('not-live');
    await context.unrouteAll();
    await page.getByText('not live', { exact: true }).waitFor({ state: 'detached' });
    await add('At once');
    await page.getByRole('link', { name: 'At once' }).waitFor();
  });
});
