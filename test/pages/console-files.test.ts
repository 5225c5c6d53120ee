import { expect } from 'vitest';
import { PIXEL } from '../../testing/sample-file.ts';
import { describeInChromium } from '../engines/chromium.ts';
import { sharedConsoleTest } from './shared-console.ts';

const test = sharedConsoleTest.extend('pictures', { scope: 'file' }, 'console-files').extend(
  'openOn',
  { scope: 'file' },
  ({ ada, signIn }) =>
    (device) =>
      signIn(ada, device),
);

describeInChromium('files in forms of the console', () => {
  test('a file that is chosen in a form is uploaded once the item is there', async ({
    installation,
    window: { page, heading, fill, press, look },
  }) => {
    await page.goto(`${installation.url}/console/data/articles/new`);
    await heading('New article');
    await fill('Title', 'With a cover');
    await fill('Body', 'One');
    await page
      .getByLabel('Cover')
      .setInputFiles({ name: 'cover.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL) });
    await look('form');
    await press('Create');
    await heading('With a cover');
    await page.getByRole('img', { name: 'Cover' }).waitFor();
    await look('item');
  });

  test('a file that is refused leaves the item without it, and says why', async ({
    installation,
    window: { page, heading, fill, press, look },
  }) => {
    await page.goto(`${installation.url}/console/data/articles/new`);
    await heading('New article');
    await fill('Title', 'Without a cover');
    await fill('Body', 'One');
    await page
      .getByLabel('Cover')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
    await press('Create');
    await page.getByText('Created, but without this file: cover.').waitFor();
    expect(await page.getByRole('alert').first().textContent()).toMatch(/PNG|picture|media type/i);
    await look('refused');
    await page.getByRole('link', { name: 'Open it, and upload again' }).click();
    await heading('Without a cover');
    expect(await page.getByRole('img', { name: 'Cover' }).count()).toBe(0);
  });
});
