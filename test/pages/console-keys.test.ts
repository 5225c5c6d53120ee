// Takes minutes, so it starts first.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { openPeople } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { describeInChromium, launchChromium, lookAt } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';

describeInChromium('the console by keys alone', () => {
  const open = new AsyncDisposableStack();
  let installation: Installation;
  let page: Page;
  beforeAll(async () => {
    installation = open.use(await startInstallation());
    const people = await openPeople(installation);
    const author = await people.signUp('Ada');
    for (const title of ['On looms', 'On engines'])
      await restClientOf(installation)('POST', '/articles', {
        token: author.token,
        body: { title, body: 'One' },
      });
    const chromium = await launchChromium();
    open.defer(() => chromium.close());
    page = await chromium.newPage({ viewport: { width: 1280, height: 850 } });
    page.setDefaultTimeout(scaled(10_000));
    await page.goto(`${installation.url}/console`);
    await signInOn(page, author);
    await heading('Data');
  });
  afterAll(() => open.disposeAsync());

  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const keys = async (...all: readonly string[]) => {
    for (const key of all) await page.keyboard.press(key);
  };
  const look = async (name: string) => {
    await lookAt(page, `console-keys-${name}`);
  };

  test('g and a letter open a section', async () => {
    await keys('g', 'a');
    await heading('Articles');
    await keys('g', 'd');
    await heading('Data');
  });

  test('the question mark lists the keys, and Escape closes them', async () => {
    await keys('g', 'a');
    await page.getByRole('link', { name: 'New article' }).waitFor();
    await keys('?');
    const help = page.getByRole('dialog', { name: 'Keys' });
    await help.waitFor();
    expect(await help.locator('dt').allTextContents()).toEqual(
      expect.arrayContaining([
        'Data',
        'Articles',
        'Search',
        'Next item',
        'New article',
        'Close what is open',
      ]),
    );
    await look('help');
    await keys('Escape');
    await help.waitFor({ state: 'detached' });
  });

  test('the slash opens the search of a page, or the palette', async () => {
    await keys('/');
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
    await keys('Tab', 'g');
    await page.evaluate('document.activeElement.blur()');
    await keys('g', 'd');
    await heading('Data');
    await keys('/');
    await page.getByRole('dialog', { name: 'Find a page or an action' }).waitFor();
    await keys('Escape');
  });

  test('the palette finds sections, items and actions', async () => {
    await keys('Control+k');
    await page.keyboard.type('looms');
    await page.getByRole('option', { name: /^On looms/ }).waitFor();
    await look('palette');
    await keys('Enter');
    await heading('On looms');
    await page.getByRole('button', { name: 'Publish' }).waitFor();
    await keys('Control+k');
    await page.keyboard.type('publish');
    await page.getByRole('option', { name: 'Publish' }).waitFor();
    await keys('Enter');
    await page.getByRole('button', { name: 'Unpublish' }).waitFor();
    await keys('Control+k');
    await page.keyboard.type('delete');
    await page.getByRole('option', { name: 'Delete', selected: true }).waitFor();
    await keys('Enter');
    await page.getByRole('dialog', { name: 'Delete “On looms”?' }).waitFor();
    await keys('Escape');
    await keys('Control+k');
    await page.keyboard.type('user');
    await page.getByRole('option', { name: /^Users/, selected: true }).waitFor();
    await keys('ArrowDown', 'ArrowUp', 'Enter');
    await heading('Users');
    await until(
      () => page.getByRole('dialog').count(),
      (count) => count === 0,
    );
  });

  test('Enter opens the result for the whole text, however fast it is pressed', async () => {
    await keys('Control+k');
    await page.keyboard.type('On');
    await page.getByRole('option', { name: /^On looms/ }).waitFor();
    await page.keyboard.type(' engines');
    await keys('Enter');
    await heading('On engines');
    await keys('Control+k');
    await page.keyboard.type('looms');
    await keys('Enter');
    await heading('On looms');
  });
});
