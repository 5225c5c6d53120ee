// Takes minutes, so it starts first.
import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { describeInChromium } from '../engines/chromium.ts';
import { test as base } from './console-window.ts';

/** More than a list of options shows. */
const USERS = 101;

const test = base
  .extend('pictures', { scope: 'file' }, 'console-lists')
  .extend('rows', { scope: 'file' }, async ({ ada, ask, create, people: { administrator } }) => {
    for (const [title, tag] of [
      ['First', 'engines'],
      ['Second', 'looms'],
    ])
      await create('/articles', ada, { title, body: 'One', tags: [tag], publish: true });
    for (let count = 1; count <= USERS; count += 1)
      await ask('POST', '/users', { token: administrator.token, body: { name: `Somebody ${count}` } });
  })
  .extend(
    'openOn',
    { scope: 'file' },
    ({ ada, rows: _written, signIn }) =>
      (device) =>
        signIn(ada, device),
  )
  .extend('show', ({ installation, window: { page } }) => async (address: string) => {
    await page.goto(`${installation.url}/console/data/${address}`);
    await page.getByRole('link', { name: 'First' }).waitFor();
  })
  .extend(
    'hasAddress',
    ({ window: { page } }) =>
      (end: string) =>
        until(
          () => page.url(),
          (url) => url.endsWith(end),
        ),
  );

describeInChromium('lists of the console', () => {
  test('the head of a column sorts the list, and shows that', async ({
    hasAddress,
    show,
    window: { page },
  }) => {
    await show('articles');
    const head = page.getByRole('columnheader', { name: 'Published at' });
    expect(await head.getAttribute('aria-sort')).toBe('none');
    await head.getByRole('link').click();
    await hasAddress('?sort=-publishedAt');
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    await head.getByRole('link').click();
    await hasAddress('?sort=publishedAt');
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await until(
      () => page.locator('a.title').allTextContents(),
      (titles) => titles.join() === 'First,Second',
    );
    expect(await page.getByRole('columnheader', { name: 'Status' }).getAttribute('aria-sort')).toBe('none');
    await page.goBack();
    await hasAddress('?sort=-publishedAt');
  });

  test('a short list is ordered and filtered by every field', async ({
    hasAddress,
    show,
    window: { page, look },
  }) => {
    await show('articles?columns=tags,createdAt');
    const titles = (expected: string) =>
      until(
        () => page.locator('a.title').allTextContents(),
        (found) => found.join() === expected,
      );
    await page.getByRole('columnheader', { name: 'Tags' }).getByRole('link').click();
    await hasAddress('&here=tags');
    await titles('First,Second');
    await page.getByRole('combobox', { name: 'More filters' }).selectOption('Title');
    const filter = page.getByRole('textbox', { name: 'Title' });
    await filter.fill('fir');
    await filter.press('Enter');
    await titles('First');
    await look('filtered');
    await page.getByRole('link', { name: 'Clear' }).click();
    await titles('Second,First');
  });

  test('a long list says how to order it by other fields', async ({ show, window: { page, look } }) => {
    await show('articles');
    await page.goto(page.url().replace(/articles.*/, 'users?here=name'));
    await page.getByText('More than 100 items').waitFor();
    await look('long');
  });

  test('columns can be chosen, and are kept in the address', async ({
    hasAddress,
    installation,
    show,
    window: { page, look },
  }) => {
    await show('articles');
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Created' }).check();
    await page.getByRole('checkbox', { name: 'Tags' }).uncheck();
    await look('columns');
    await page.getByRole('columnheader', { name: 'Created' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Tags' }).count()).toBe(0);
    await page.reload();
    await page.getByRole('columnheader', { name: 'Created' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Tags' }).count()).toBe(0);
    // The browser keeps them, too; another address is shown as it is, and changes nothing.
    await page.goto(`${installation.url}/console/data/users`);
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Articles' }).click();
    await page.getByRole('columnheader', { name: 'Created' }).waitFor();
    await show('articles?columns=tags');
    await page.getByRole('columnheader', { name: 'Tags' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Created' }).count()).toBe(0);
    await show('articles');
    await page.getByRole('columnheader', { name: 'Created' }).waitFor();
    await page.getByText('Columns', { exact: true }).click();
    await page.getByRole('checkbox', { name: 'Created' }).uncheck();
    await page.getByRole('checkbox', { name: 'Tags' }).check();
    await hasAddress('/console/data/articles');
    await page.reload();
    await page.getByRole('columnheader', { name: 'Tags' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Created' }).count()).toBe(0);
  });

  test('the options of a large list are searched', async ({ show, window: { page, look } }) => {
    await show('articles');
    const author = page.getByRole('combobox', { name: 'Author' });
    await author.click();
    await page.getByRole('option').first().waitFor();
    await author.fill('ada');
    await page.getByRole('option', { name: 'Ada', exact: true }).waitFor();
    await look('reference');
    await author.press('Enter');
    await page.getByRole('link', { name: 'First' }).waitFor();
    expect(new URL(page.url()).searchParams.get('author')).toMatch(/^\d+$/);
    await until(
      () => author.inputValue(),
      (name) => name === 'Ada',
    );
    await author.fill('');
    await until(
      () => new URL(page.url()).search,
      (search) => search === '',
    );
  });
});
