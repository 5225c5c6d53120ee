// Takes minutes, so it starts first.
// Over 200 lines, because one person uses one installation throughout.

import { describe, expect } from 'vitest';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { PIXEL } from '../../testing/sample-file.ts';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium, sizesOf } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { test as base } from './console-window.ts';

const test = base
  .extend('pictures', { scope: 'file' }, 'console-data-publishing')
  .extend(
    'draft',
    { scope: 'file' },
    ({ ada, create }) =>
      (title: string, more: object = {}) =>
        create('/articles', ada, { title, body: 'One\nTwo', ...more }),
  )
  .extend(
    'openOn',
    { scope: 'file' },
    ({ ada, signIn }) =>
      (device) =>
        signIn(ada, device),
  );

describeInChromium('publishing in the console', () => {
  describe.each(sizesOf(CONSOLE_SIZES, 'phone'))('on a %s', (size, options) => {
    test.override('device', { size, options });

    test('an author writes, and errors are shown at their fields', async ({
      window: { page, heading, go, press, look, follow, fill },
    }) => {
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
      await fill('Tags', 'engines');
      await page.getByLabel('Tags').press('Enter');
      await page.getByRole('button', { name: 'Remove engines' }).waitFor();
      // A word that is still being typed is sent as well.
      await fill('Tags', 'looms');
      await page.getByLabel('Body').press('Control+Enter');
      await heading(`Engines on a ${size}`);
      await page.getByText('Draft', { exact: true }).first().waitFor();
      await look('item');
      await press('Publish');
      await page.getByText('Published', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: 'Unpublish' }).waitFor();
    });

    test('a list is searched, filtered and paged by its address, and follows changes', async ({
      draft,
      window: { page, heading, go, look, follow, fill },
    }) => {
      for (let count = 0; count < 26; count += 1) await draft(`Many ${count}`, { tags: [`many-${size}`] });
      await go('Articles');
      await fill('Tags', `many-${size}`);
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
      await follow('Clear');
      await page.keyboard.press('/');
      await page.keyboard.type(`"engines on a ${size}"`);
      await page.getByRole('link', { name: `Engines on a ${size}` }).waitFor();
      await isAlone(1);
      // The rows may be there before the last letters.
      await page.waitForURL((url) => url.searchParams.get('q') === `"engines on a ${size}"`);
      await look('found');
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await heading(`Engines on a ${size}`);
    });

    test('an editor who meets a concurrent change sees it with its author, and loses nothing', async ({
      ada,
      ask,
      draft,
      installation,
      people: { administrator },
      window: { page, heading, press, look, fill },
    }) => {
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
      await page.getByRole('button', { name: 'Remove new' }).waitFor();
      await page.getByText('You have both changed the fields that are marked below.').waitFor();
      await look('conflict');
      await press('Overwrite');
      await heading('Mine');
      const { body } = await ask('GET', `/articles/${id}`, { token: ada.token });
      expect(body).toMatchObject({ title: 'Mine', tags: ['new'], body: 'One\nTwo' });
    });

    test('input that was not sent is there again after a step back, and merges with changes of others', async ({
      ask,
      draft,
      installation,
      people: { administrator },
      window: { page, heading, press, look, fill, follow },
    }) => {
      const id = await draft('Half', { tags: ['old'] });
      await page.goto(`${installation.url}/console/data/articles/${id}`);
      await heading('Half');
      await follow('Edit');
      await heading('Edit');
      await fill('Title', 'Half written');
      await page.goBack();
      await heading('Half');
      await ask('PATCH', `/articles/${id}`, { token: administrator.token, body: { tags: ['new'] } });
      await page.goForward();
      await heading('Edit');
      await page.getByText('Your input from before is here again.').waitFor();
      expect(await page.getByLabel('Title').inputValue()).toBe('Half written');
      await page.getByText(/^Changed by .* meanwhile$/).waitFor();
      await page.getByRole('button', { name: 'Remove new' }).waitFor();
      await look('restored');
      await press('Discard it');
      expect(await page.getByLabel('Title').inputValue()).toBe('Half');
      await fill('Title', 'Other');
      await follow('Cancel');
      await heading('Half');
      await follow('Edit');
      await heading('Edit');
      expect(await page.getByLabel('Title').inputValue()).toBe('Half');
    });

    test('a user whose session ends while they write signs in beside the form, and saves', async ({
      ask,
      create,
      device,
      people,
      signIn,
    }) => {
      const writer = await people.signUp('Wanda');
      const id = await create('/articles', writer, { title: 'Interrupted', body: 'One' });
      const { page, heading, fill, follow, press, look } = await signIn(
        writer,
        device,
        `/console/data/articles/${id}`,
        'Interrupted',
      );
      await follow('Edit');
      await heading('Edit');
      await fill('Title', 'Continued');
      const account = `/account/people/${writer.userId}`;
      const { body } = await ask('GET', account, { token: people.administrator.token });
      for (const { id: session } of (body as { readonly sessions: readonly { readonly id: string }[] })
        .sessions)
        await ask('DELETE', `${account}/sessions/${session}`, { token: people.administrator.token });
      // The page follows changes, so it notices by itself.
      const offer = page.getByRole('dialog').getByText('Your session has ended');
      await offer.waitFor();
      await look('session-ended');
      await press('Not now');
      await offer.waitFor({ state: 'detached' });
      await press('Save');
      await offer.waitFor();
      const [beside] = await Promise.all([page.context().waitForEvent('page'), press('Sign in')]);
      const closed = beside.waitForEvent('close');
      await signInOn(beside, writer);
      await closed;
      await heading('Continued');
      expect(await page.evaluate('Object.keys(sessionStorage).join()')).not.toContain('draft');
    });

    test('input that was not sent ends with the sign-in', async ({ create, device, people, signIn }) => {
      const writer = await people.signUp('Wilma');
      const id = await create('/articles', writer, { title: 'Left', body: 'One' });
      const { page, heading, fill, follow, press } = await signIn(
        writer,
        device,
        `/console/data/articles/${id}`,
        'Left',
      );
      await follow('Edit');
      await heading('Edit');
      await fill('Title', 'Private');
      await page.goBack();
      await heading('Left');
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toContain('Private');
      await press('Sign out');
      await page.getByRole('heading', { name: 'Sign out' }).waitFor();
      await press('Sign out');
      await heading('You are signed out');
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('Private');
    });

    test('versions are compared, and an earlier content is restored by a new change', async ({
      ada,
      ask,
      draft,
      installation,
      window: { page, heading, press, look, follow },
    }) => {
      const id = await draft('First');
      await ask('PATCH', `/articles/${id}`, {
        token: ada.token,
        body: { title: 'Second', body: 'One\nThree' },
      });
      await page.goto(`${installation.url}/console/data/articles/${id}`);
      await follow('History');
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
      const { body } = await ask('GET', `/articles/${id}`, { token: ada.token });
      expect(body).toMatchObject({ title: 'First', body: 'One\nTwo' });
    });

    test('a picture is dropped on its field, and removed', async ({
      draft,
      installation,
      window: { page, press, look },
    }) => {
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
      await look('picture');
      await press('Remove cover');
      await page.getByText('Upload cover').waitFor();
    });

    test('one command is sent to many items', async ({
      draft,
      installation,
      window: { page, press, look },
    }) => {
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

    test('child items are shown with their item, and added there', async ({
      draft,
      installation,
      window: { page, heading, press, look, follow, fill },
    }) => {
      const id = await draft('Under discussion', { publish: true });
      await page.goto(`${installation.url}/console/data/articles/${id}`);
      await follow('Add comment');
      await heading('Add comment');
      await fill('Text', 'זה מצוין');
      await press('Create');
      await page.getByRole('link', { name: 'זה מצוין' }).click();
      await heading('זה מצוין');
      await page.getByRole('link', { name: 'Edit' }).waitFor();
      await look('under');
    });
  });

  test('at twice the size nothing overflows', async ({ installation, openOn }) => {
    const options = { viewport: { width: 640, height: 425 }, deviceScaleFactor: 2 };
    const { page, look } = await openOn({ size: 'zoomed', options });
    await page.goto(`${installation.url}/console/data/articles`);
    await page.getByRole('row').first().waitFor();
    await look('list');
  });
});

const testExpenses = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    {
      of: { domain: expenses, main: 'test/toy/example-main.ts' },
    },
  )
  .extend('pictures', { scope: 'file' }, 'console-data-expenses')
  .extend('team', { scope: 'file' }, ({ create, people: { administrator } }) =>
    create('/teams', administrator, {
      name: 'Field work',
      approverId: administrator.userId,
      budget: 500_000,
    }),
  )
  .extend('employee', { scope: 'file' }, ({ people, team: _theirs }) => people.signUp('Emil'))
  .extend(
    'openOn',
    { scope: 'file' },
    ({ employee, signIn }) =>
      (device) =>
        signIn(employee, device),
  );

describeInChromium('expenses in the console', () => {
  testExpenses.for(sizesOf(CONSOLE_SIZES, 'phone'))(
    'an employee claims what they spent, on a %s',
    async ([size, options], { openOn }) => {
      const { page, go, follow, fill, press, heading, look } = await openOn({ size, options });
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
    },
  );
});
