// Takes minutes, so it starts first.
// Over 200 lines, because one person uses one installation throughout.

import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { PIXEL } from '../../testing/pixel.ts';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium, launchChromium } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { openConsoleWindow } from './console-window.ts';

const open = new AsyncDisposableStack();
let chromium: Browser;
beforeAll(async () => {
  chromium = await launchChromium();
  open.defer(() => chromium.close());
});
afterAll(() => open.disposeAsync());

type Options = { readonly options: BrowserContextOptions; readonly pictures: string };

/** A window of the console in which somebody has signed in. */
const signIn = async ({ url }: Installation, person: Person, { options, pictures }: Options) => {
  const window = await openConsoleWindow({ chromium, options, pictures: `console-data-${pictures}` });
  const { page } = window;
  await page.goto(`${url}/console`);
  await signInOn(page, person);
  await window.heading('Data');
  return {
    ...window,
    follow: (text: string) =>
      page.getByRole('main').getByRole('link', { name: text, exact: true }).first().click(),
    fill: (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text),
  };
};

describeInChromium('publishing in the console', () => {
  let installation: Installation;
  let ask: RestClient;
  let author: Person;
  let administrator: People['administrator'];
  beforeAll(async () => {
    installation = open.use(await startInstallation());
    const people = await openPeople(installation);
    ask = restClientOf(installation);
    ({ administrator } = people);
    author = await people.signUp('Ada');
  });

  const draft = async (title: string, more: object = {}): Promise<number> => {
    const made = await ask('POST', '/articles', {
      token: author.token,
      body: { title, body: 'One\nTwo', ...more },
    });
    return (made.body as { id: number }).id;
  };

  describe.each(CONSOLE_SIZES)('on a %s', (size, options) => {
    let visit: Awaited<ReturnType<typeof signIn>>;
    beforeAll(async () => {
      visit = await signIn(installation, author, { options, pictures: `publishing-${size}` });
    });
    afterAll(() => visit?.context.close());

    test('an author writes, and errors are shown at their fields', async () => {
      const { page, go, follow, fill, press, heading, look } = visit;
      await look('home');
      await go('Articles');
      await follow('New article');
      await heading('New article');
      await fill('Tags', 'Not a tag');
      await press('Create');
      await page.getByText('Must not be blank.').waitFor();
      await page.getByText('Must be 1 to 40 characters: a–z, 0–9 or hyphens.').waitFor();
      expect(await page.evaluate('document.activeElement.name')).toBe('title');
      await look('refused');
      await fill('Title', `Engines on a ${size}`);
      await fill('Body', 'One\nTwo');
      await fill('Tags', 'engines\nlooms');
      await page.getByLabel('Body').press('Control+Enter');
      await heading(`Engines on a ${size}`);
      await page.getByText('Draft', { exact: true }).first().waitFor();
      await look('item');
      await press('Publish');
      await page.getByText('Published', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: 'Unpublish' }).waitFor();
    });

    test('a list is searched, filtered and paged by its address, and follows changes', async () => {
      const { page } = visit;
      for (let count = 0; count < 26; count += 1) await draft(`Many ${count}`, { tags: [`many-${size}`] });
      await visit.go('Articles');
      await visit.fill('Tags', `many-${size}`);
      await page.getByLabel('Tags').press('Enter');
      await until(
        () => page.url(),
        (url) => url.endsWith(`?tag=many-${size}`),
      );
      const isAlone = async (rows: number) =>
        until(
          () => page.getByRole('row').count(),
          (count) => count === rows + 1,
        );
      await isAlone(25);
      await page.getByRole('link', { name: 'Many 25' }).waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByRole('link', { name: 'Many 0', exact: true }).waitFor();
      await isAlone(1);
      await page.reload();
      await page.getByRole('link', { name: 'Many 0', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Previous' }).click();
      await page.getByRole('link', { name: 'Many 25' }).waitFor();
      await draft('Just now', { tags: [`many-${size}`] });
      await page.getByRole('link', { name: 'Just now' }).waitFor();
      await visit.follow('Clear');
      await page.keyboard.press('/');
      await page.keyboard.type(`"engines on a ${size}"`);
      await page.getByRole('link', { name: `Engines on a ${size}` }).waitFor();
      await isAlone(1);
      expect(new URL(page.url()).searchParams.get('q')).toBe(`"engines on a ${size}"`);
      await visit.look('found');
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await visit.heading(`Engines on a ${size}`);
    });

    test('an editor who meets a concurrent change sees it with its author, and loses nothing', async () => {
      const { page, heading, fill, press, look } = visit;
      const id = await draft('Both of us', { tags: ['old'] });
      await page.goto(`${installation.url}/console/data/articles/${id}`);
      await heading('Both of us');
      await page.keyboard.press('e');
      await heading('Edit');
      await fill('Title', 'Mine');
      const theirs = { title: 'Theirs', tags: ['new'] };
      await ask('PATCH', `/articles/${id}`, { token: administrator.token, body: theirs });
      await page.getByText(/^Changed by .* meanwhile$/).waitFor();
      expect(await page.getByLabel('Title').inputValue()).toBe('Mine');
      expect(await page.getByLabel('Tags').inputValue()).toBe('new');
      await page.getByText('You have both changed the fields that are marked below.').waitFor();
      await look('conflict');
      await press('Overwrite');
      await heading('Mine');
      const { body } = await ask('GET', `/articles/${id}`, { token: author.token });
      expect(body).toMatchObject({ title: 'Mine', tags: ['new'], body: 'One\nTwo' });
    });

    test('versions are compared, and an earlier content is restored by a new change', async () => {
      const { page, heading, press, look } = visit;
      const id = await draft('First');
      await ask('PATCH', `/articles/${id}`, {
        token: author.token,
        body: { title: 'Second', body: 'One\nThree' },
      });
      await page.goto(`${installation.url}/console/data/articles/${id}`);
      await visit.follow('History');
      await heading('History: Second');
      await page.getByLabel('Compare with').selectOption('v1: Drafted');
      const then = page.getByRole('region', { name: 'Then' });
      await then.getByText('First').waitFor();
      expect(await then.locator('.diff .added').allTextContents()).toEqual(['+Three\n']);
      await look('compared');
      await page.getByRole('button', { name: 'v1: show it' }).click();
      await press('Restore');
      await look('restore');
      await press('Restore it');
      await heading('History: First');
      await page.getByRole('button', { name: 'v3: show it' }).waitFor();
      const { body } = await ask('GET', `/articles/${id}`, { token: author.token });
      expect(body).toMatchObject({ title: 'First', body: 'One\nTwo' });
    });

    test('a picture is dropped on its field, and removed', async () => {
      const { page } = visit;
      const id = await draft('With a picture');
      await page.goto(`${installation.url}/console/data/articles/${id}`);
      await page.getByText('or drop a picture here').waitFor();
      const file = await page.evaluateHandle(`{
        const transfer = new DataTransfer();
        const bytes = Uint8Array.from(atob('${PIXEL.toString('base64')}'), (letter) => letter.charCodeAt(0));
        transfer.items.add(new File([bytes], 'picture.png', { type: 'image/png' }));
        transfer;
      }`);
      await page.locator('.drop').dispatchEvent('drop', { dataTransfer: file });
      await page.getByRole('img', { name: 'Cover' }).waitFor();
      await visit.look('picture');
      await visit.press('Remove cover');
      await page.getByText('Upload cover').waitFor();
    });

    test('one command is sent to many items', async () => {
      const { page, press, look } = visit;
      for (const name of ['a', 'b', 'c']) await draft(`Bulk ${name}`, { tags: [`bulk-${size}`] });
      await page.goto(`${installation.url}/console/data/articles?tag=bulk-${size}`);
      await page.getByLabel('Choose Bulk a').check();
      await page.getByLabel('Choose Bulk b').check();
      await page.getByText('2 items chosen').waitFor();
      await look('chosen');
      await press('Publish');
      await page.getByRole('dialog').getByText('Bulk b').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
      await until(
        () => page.getByRole('cell', { name: 'Published', exact: true }).count(),
        (count) => count === 2,
      );
    });

    test('child items are shown with their item, and added there', async () => {
      const { page } = visit;
      const id = await draft('Under discussion', { publish: true });
      await page.goto(`${installation.url}/console/data/articles/${id}`);
      await visit.follow('Add comment');
      await visit.heading('Add comment');
      await visit.fill('Text', 'זה מצוין');
      await visit.press('Create');
      await page.getByRole('link', { name: 'זה מצוין' }).click();
      await visit.heading('זה מצוין');
      await page.getByRole('link', { name: 'Edit' }).waitFor();
      await visit.look('under');
    });
  });

  test('at twice the size nothing overflows', async () => {
    const options = { viewport: { width: 640, height: 425 }, deviceScaleFactor: 2 };
    const visit = await signIn(installation, author, { options, pictures: 'publishing-zoomed' });
    await visit.page.goto(`${installation.url}/console/data/articles`);
    await visit.page.getByRole('row').first().waitFor();
    await visit.look('list');
    await visit.context.close();
  });
});

describeInChromium('expenses in the console', () => {
  let installation: Installation;
  let ask: RestClient;
  let employee: Person;
  let people: People;
  beforeAll(async () => {
    installation = open.use(
      await startInstallation({ of: { domain: expenses, main: 'test/toy/example-main.ts' } }),
    );
    people = await openPeople(installation);
    ask = restClientOf(installation);
    employee = await people.signUp('Emil');
    const body = { name: 'Field work', approverId: people.administrator.userId, budget: 500_000 };
    await ask('POST', '/teams', { token: people.administrator.token, body });
  });

  test.each(CONSOLE_SIZES)('an employee claims what they spent, on a %s', async (size, options) => {
    const visit = await signIn(installation, employee, { options, pictures: `expenses-${size}` });
    const { page, go, follow, fill, press, heading, look } = visit;
    await go('Claims');
    await follow('New claim');
    await page.getByLabel('Team').selectOption('Field work');
    await fill('Purpose', `Strasbourg, ${size}`);
    await press('Create');
    await heading(`Strasbourg, ${size}`);
    expect(await page.getByRole('button', { name: 'Submit' }).count()).toBe(0);
    await follow('Add item');
    await fill('Spent on', '2026-11-20');
    await page.getByLabel('Category').selectOption('Travel');
    await fill('Amount', '128000');
    await press('Add');
    await page.getByRole('cell', { name: '128,000' }).waitFor();
    await look('claim');
    await follow('Edit');
    await heading('Edit');
    await page.goBack();
    await page
      .getByRole('row', { name: /Travel/ })
      .getByRole('link', { name: 'Edit' })
      .click();
    await heading('Edit item');
    await fill('Amount', '12800');
    await press('Save');
    await page.getByRole('cell', { name: '12,800' }).waitFor();
    await follow('History');
    const latest = page.getByRole('region', { name: 'History' }).getByRole('listitem').first();
    await latest.getByText(/^Item \S+ changed$/).waitFor();
    expect(await latest.locator('dd dl').textContent()).toMatch(/Amount\s*was 128,000\s*became 12,800/);
    expect(await latest.locator('.portrait').textContent()).toBe('E');
    await page.getByRole('table', { name: 'Items then' }).getByRole('cell', { name: '12,800' }).waitFor();
    await page.getByLabel('Compare with').selectOption('v2: Item added');
    const between = page.getByRole('region', { name: 'Then' });
    await between.getByRole('heading', { name: /^Item \S+ changed$/ }).waitFor();
    await between.locator('section').getByText('became 12,800').waitFor();
    await look('items-history');
    await page.goBack();
    await press('Submit');
    await page.getByText('Submitted', { exact: true }).first().waitFor();
    await follow('History');
    await heading(`History: Strasbourg, ${size}`);
    await look('history');
    await visit.context.close();
  });
});
