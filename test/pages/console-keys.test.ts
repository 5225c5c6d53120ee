import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { describeInChromium } from '../engines/chromium.ts';
import { sharedConsoleTest } from './shared-console.ts';

const test = sharedConsoleTest
  .extend('pictures', { scope: 'file' }, 'console-keys')
  .extend('articles', { scope: 'file' }, async ({ ada, create }) => {
    for (const title of ['On looms', 'On engines']) await create('/articles', ada, { title, body: 'One' });
  })
  .extend(
    'openOn',
    { scope: 'file' },
    ({ ada, articles: _written, signIn }) =>
      (device) =>
        signIn(ada, device),
  )
  .extend('keys', ({ window: { page } }) => async (...all: readonly string[]) => {
    for (const key of all) await page.keyboard.press(key);
  });

describeInChromium('the console by keys alone', () => {
  test('g and a letter open a section', async ({ keys, window: { heading } }) => {
    await keys('g', 'a');
    await heading('Articles');
    await keys('g', 'd');
    await heading('Data');
  });

  test('the question mark lists the keys, and Escape closes them', async ({
    keys,
    window: { page, look },
  }) => {
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

  test('the slash opens the search of a page, or the palette', async ({
    keys,
    window: { page, heading },
  }) => {
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

  test('the palette finds sections, items and actions', async ({ keys, window: { page, heading, look } }) => {
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

  test('Enter opens the result for the whole text, however fast it is pressed', async ({
    keys,
    window: { page, heading },
  }) => {
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
