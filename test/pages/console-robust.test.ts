import { expect } from 'vitest';
import { describeInChromium } from '../engines/chromium.ts';
import { sharedConsoleTest } from './shared-console.ts';

const test = sharedConsoleTest
  .extend('pictures', { scope: 'file' }, 'console-robust')
  .extend(
    'add',
    { scope: 'file' },
    ({ ada, create }) =>
      (title: string) =>
        create('/articles', ada, { title, body: 'One' }),
  )
  .extend('openOn', { scope: 'file' }, ({ ada, add, signIn }) => async (device) => {
    await add('On engines');
    return signIn(ada, device);
  });
test.beforeEach(({ window: { context } }) => context.unrouteAll());

describeInChromium('the console after a failure', () => {
  test('without scripts, the page says what to do', async ({ chromium, installation }) => {
    const other = await chromium.newContext({ javaScriptEnabled: false });
    const silent = await other.newPage();
    await silent.goto(`${installation.url}/console`);
    await silent.locator('noscript p').waitFor();
    expect(await silent.getByText('The console is being loaded.').isVisible()).toBe(false);
    await other.close();
  });

  test('until it runs, the page says that it is loading', async ({
    installation,
    window: { page, context, heading },
  }) => {
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

  test('a module that fails to load is loaded again', async ({
    installation,
    window: { page, context, heading },
  }) => {
    await context.route(/\/item\.ts$/, (route) => route.abort());
    await page.goto(`${installation.url}/console/data`);
    await page.getByText('Trying again …').waitFor();
    await context.unrouteAll();
    await heading('Data');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('if that does not help, it says what to do', async ({
    installation,
    window: { page, context, heading, look },
  }) => {
    await context.route(/\/data\/domain\.ts$/, (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(`${installation.url}/console/data`);
    await page.getByText('Check your connection').waitFor();
    await look('not-loaded');
    await context.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await heading('Data');
  });

  test('an error in one page keeps the navigation, and says what to do', async ({
    installation,
    window: { page, context, heading, look },
  }) => {
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

  test('without live updates a page says so, and polls', async ({
    add,
    installation,
    window: { page, context, look },
  }) => {
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
