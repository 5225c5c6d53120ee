import { expect } from 'vitest';
import { describeInChromium } from '../engines/chromium.ts';
import { sharedConsoleTest } from './shared-console.ts';

const test = sharedConsoleTest.extend('pictures', { scope: 'file' }, 'console-editor').extend(
  'openOn',
  { scope: 'file' },
  ({ ada, signIn }) =>
    (device) =>
      signIn(ada, device),
);

const HOSTILE = [
  '<script>window.ran = true</script><img src=x onerror="window.ran = true">',
  '[a](javascript:window.ran=true) ![b](https://elsewhere.example/pixel.png)',
].join('\n\n');

describeInChromium('the editor of the console', () => {
  test('a text is formatted by the toolbar and keys alone, previewed, and shown', async ({
    installation,
    window: { page, heading, fill, look },
  }) => {
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(request.url()));
    await page.goto(`${installation.url}/console/data/articles/new`);
    await heading('New article');
    await fill('Title', 'On the engine');
    const body = page.getByLabel('Body');
    await body.pressSequentially('An analytical one');
    await body.press('Shift+Home');
    await page.keyboard.press('Control+b');
    expect(await body.inputValue()).toBe('**An analytical one**');
    await page.keyboard.press('Control+b');
    expect(await body.inputValue()).toBe('An analytical one');
    await page.keyboard.press('Control+z');
    expect(await body.inputValue()).toBe('**An analytical one**');
    // One stop of the tab key, then arrows.
    await page.keyboard.press('Shift+Tab');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Bold');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    expect(await body.inputValue()).toBe('## **An analytical one**');
    await body.press('End');
    await body.evaluate('(area) => area.setSelectionRange(area.value.length, area.value.length)');
    await page.keyboard.insertText(`\n\n- one\n- two\n\n[paper](https://paper.example/)\n\n${HOSTILE}`);
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = page.getByRole('region', { name: 'Preview' });
    await preview.getByRole('heading', { name: 'An analytical one', level: 3 }).waitFor();
    await look('preview');
    await page.getByLabel('Tags').fill('engines');
    await body.press('Control+Enter');
    await heading('On the engine');
    const text = page.locator('.markdown');
    await text.getByRole('listitem').filter({ hasText: 'two' }).waitFor();
    expect(await text.getByRole('link', { name: 'paper' }).getAttribute('rel')).toContain('noopener');
    expect(await text.locator('script, img').count()).toBe(0);
    expect(await text.getByRole('link').count()).toBe(2);
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(asked.filter((url) => !url.startsWith(new URL(installation.url).origin))).toEqual([]);
    await look('shown');
  });

  test('an item has its requests for programs', async ({ ada, create, installation, window }) => {
    const { page, heading, look } = window;
    const id = await create('/articles', ada, { title: 'For programs', body: 'One' });
    await page.goto(`${installation.url}/console/data/articles/${id}`);
    await heading('For programs');
    await page.getByText('Requests for programs').click();
    await page.getByText(`/articles/${id}'`).first().waitFor();
    await page.getByRole('button', { name: 'TypeScript' }).click();
    await page.getByText(`await client.articles.publish(${id});`).waitFor();
    await page.getByRole('button', { name: 'GraphQL', exact: true }).click();
    await page.getByText(`(id: "${id}")`).waitFor();
    await look('requests');
  });
});
