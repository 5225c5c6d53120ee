import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { describeInChromium } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { sharedConsoleTest } from './shared-console.ts';

const RESTORED = 'Your input from before is here again.';
const OFFERED = 'You left input in this form that was not saved';
const STORED = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])';

const test = sharedConsoleTest
  .extend('pictures', { scope: 'file' }, 'console-drafts')
  /** A writer with an article, at its page; each test has another one. */
  .extend('visit', ({ create, device, people, signIn }) => async (name: string) => {
    const writer = await people.signUp(name);
    const id = await create('/articles', writer, { title: 'Left', body: 'One', tags: ['old'] });
    const address = `/console/data/articles/${id}`;
    return { writer, id, address, window: await signIn(writer, device, address, 'Left') };
  });

const titleOn = (page: Page): Promise<string> => page.getByLabel('Title').inputValue();

const write = async (page: Page, title: string): Promise<void> => {
  await page.getByRole('main').getByRole('link', { name: 'Edit', exact: true }).click();
  await page.getByRole('heading', { name: 'Edit', level: 1 }).waitFor();
  await page.getByLabel('Title').fill(title);
};

/** Closes the page without asking, and opens the form in another one. */
const openElsewhere = async (page: Page, { isCrashed }: { isCrashed: boolean }): Promise<Page> => {
  const address = page.url();
  const other = await page.context().newPage();
  if (isCrashed) await page.close();
  await other.goto(address);
  await other.getByRole('heading', { name: 'Edit', level: 1 }).waitFor();
  return other;
};

describeInChromium('input that was not sent', () => {
  test('is offered after a crash, and merges with changes of others once it is taken', async ({
    ask,
    installation: _started,
    people: { administrator },
    visit,
  }) => {
    const { id, window } = await visit('Ida');
    await write(window.page, 'Half written');
    const other = await openElsewhere(window.page, { isCrashed: true });
    await other.getByText(OFFERED).waitFor();
    expect(await titleOn(other)).toBe('Left');
    await ask('PATCH', `/articles/${id}`, { token: administrator.token, body: { tags: ['new'] } });
    await other.getByRole('button', { name: 'Restore it' }).click();
    await other.getByText(RESTORED).waitFor();
    expect(await titleOn(other)).toBe('Half written');
    await other.getByText(/^Changed by .* meanwhile$/).waitFor();
    await other.getByRole('button', { name: 'Remove new' }).waitFor();
    // The user changed the title alone, so nothing is overwritten.
    await other.getByRole('button', { name: 'Save', exact: true }).click();
    await other.getByRole('heading', { name: 'Half written', level: 1 }).waitFor();
    expect(await other.evaluate(STORED)).not.toContain('Half written');
  });

  test('is not offered while its tab is open, and no more once it is discarded', async ({ visit }) => {
    const { window } = await visit('Ilse');
    await write(window.page, 'In one tab');
    const second = await openElsewhere(window.page, { isCrashed: false });
    await second.getByLabel('Title').fill('In another tab');
    expect(await second.getByText(OFFERED).count()).toBe(0);
    const third = await openElsewhere(second, { isCrashed: true });
    await third.getByText(OFFERED).waitFor();
    await third.getByRole('button', { name: 'Discard it' }).click();
    await third.getByText(OFFERED).waitFor({ state: 'detached' });
    expect(await titleOn(third)).toBe('Left');
    expect(await third.evaluate(STORED)).not.toContain('In another tab');
    expect(await titleOn(window.page)).toBe('In one tab');
  });

  test('is there after the session has ended on another page', async ({ ask, people, visit }) => {
    const { writer, address, window } = await visit('Irma');
    const { page, heading } = window;
    await write(page, 'Left for later');
    await page.goBack();
    await heading('Left');
    const account = `/account/people/${writer.userId}`;
    const { body } = await ask('GET', account, { token: people.administrator.token });
    for (const { id } of (body as { readonly sessions: readonly { readonly id: string }[] }).sessions)
      await ask('DELETE', `${account}/sessions/${id}`, { token: people.administrator.token });
    await signInOn(page, writer);
    await page.waitForURL((url) => url.pathname === address);
    await page.getByRole('main').getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByText(RESTORED).waitFor();
    expect(await titleOn(page)).toBe('Left for later');
  });

  test('ends when another user signs in, and when its user signs out', async ({
    installation,
    people,
    visit,
  }) => {
    const { writer, window } = await visit('Inge');
    await write(window.page, 'Private words');
    const { context } = window;
    expect(await window.page.evaluate(STORED)).toContain('Private words');
    const next = await context.newPage();
    await window.page.close();
    await context.clearCookies();
    await next.goto(`${installation.url}/console`);
    const stranger = await people.signUp('Iris');
    await signInOn(next, stranger);
    await next.getByRole('heading', { name: 'Data', level: 1 }).waitFor();
    expect(await next.evaluate(STORED)).not.toContain('Private words');
    await context.clearCookies();
    await next.goto(`${installation.url}/console`);
    await signInOn(next, writer);
    await next.goto(`${installation.url}/console/data/articles/new`);
    await next.getByLabel('Title').fill('More private words');
    await next.goBack();
    await next.getByRole('button', { name: 'Sign out' }).click();
    await next.getByRole('heading', { name: 'Sign out' }).waitFor();
    await next.getByRole('button', { name: 'Sign out' }).click();
    await next.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(await next.evaluate(STORED)).not.toContain('private words');
  });
});
