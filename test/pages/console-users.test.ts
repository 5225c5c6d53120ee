import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { describeInChromium, lookAt, SIZES } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { sharedConsoleTest } from './shared-console.ts';

/** Where changes must name a version. */
const test = sharedConsoleTest
  .extend('installationOptions', { scope: 'file' }, { settings: { REQUIRE_IF_MATCH: 'on' } })
  .extend(
    'signInAt',
    { scope: 'file' },
    ({ installation, operator }) =>
      async (page: Page, path: string): Promise<void> => {
        await page.goto(`${installation.url}${path}`);
        await signInOn(page, operator);
      },
  );

describeInChromium('users in the console', () => {
  test.for(SIZES)(
    'are found, invited, deactivated, and erased, on a %s',
    async ([size, options], { ask, chromium, operator, people, signInAt }) => {
      const name = `Ada ${randomUUID().slice(0, 6)}`;
      const ada = await people.signUp(name);
      const article = await ask('POST', '/articles', {
        token: ada.token,
        body: { title: 'On looms', body: 'One', tags: [] },
      });
      expect(article.status).toBe(201);
      const hook = await ask('POST', '/webhooks', {
        token: ada.token,
        body: { url: 'https://example.com/hook', eventTypes: ['article.*'] },
      });
      expect(hook.status).toBe(201);
      const page = await (await chromium.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
      page.setDefaultTimeout(scaled(10_000));
      const complaints: string[] = [];
      page.on('pageerror', (error) => void complaints.push(String(error)));
      const heading = (text: string) => page.getByRole('heading', { name: text }).waitFor();
      const press = (label: string) => page.getByRole('button', { name: label, exact: true }).click();
      const look = async (what: string) => {
        await page.locator('main .waiting').first().waitFor({ state: 'detached' });
        await lookAt(page, `console-users-${size}-${what}`);
      };

      await signInAt(page, '/console/users');
      await heading('Accounts');
      // Each file has an operator of this name.
      const grace = page.getByRole('link', { name: 'Grace' }).first();
      await grace.waitFor();
      await page.getByLabel('Name or e-mail address').fill(ada.email.slice(0, 12));
      await page.keyboard.press('Enter');
      await grace.waitFor({ state: 'detached' });
      expect(new URL(page.url()).searchParams.get('q')).toBe(ada.email.slice(0, 12));
      const guest = `${randomUUID().slice(0, 8)}@example.com`;
      const invitation = page.locator('section', { has: page.getByRole('heading', { name: 'Invitations' }) });
      await invitation.getByLabel('E-mail address').fill(guest);
      await invitation.getByLabel('Role').selectOption('author');
      await press('Invite');
      await page.getByText(`${guest} is invited.`).waitFor();
      await look('1-list');
      await press(`Revoke the invitation of ${guest}`);
      await page
        .getByRole('button', { name: `Revoke the invitation of ${guest}` })
        .waitFor({ state: 'detached' });

      await page.getByRole('link', { name }).click();
      await heading(name);
      await page.getByText('Drafted').first().waitFor();
      await page.getByText('active', { exact: true }).waitFor();
      await look('2-person');
      // The lists of the navigation stay apart on a page that is scrolled.
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      const places = await page.evaluate<string[]>(
        "[...document.querySelectorAll('nav a')].map((link) => link.getBoundingClientRect()).map(({ x, y }) => x + ' ' + y)",
      );
      expect(new Set(places).size).toBe(places.length);
      await press('End Journal');
      await page.getByText('No application may act for the user.').waitFor();
      await press('End all access');
      await look('3-end-all');
      await page.getByRole('dialog').getByRole('button', { name: 'End all access' }).click();
      await page.getByText('The user has no sessions.').waitFor();
      await page.getByRole('button', { name: 'End all access' }).waitFor({ state: 'detached' });
      await press('Deactivate');
      await page.getByLabel('Disable 1 webhook too').check();
      await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
      await page.getByText('deactivated', { exact: true }).waitFor();
      await look('4-deactivated');
      const disabled = () =>
        ask('GET', `/webhooks?owner=${ada.userId}&enabled=false`, { token: operator.token });
      await until(disabled, ({ body }) => JSON.stringify(body).includes('example.com'));
      await press('Reactivate');
      await page.getByText('active', { exact: true }).waitFor();
      await press('Make reader');
      await press('Change the role');
      await page.getByRole('button', { name: 'Make author' }).waitFor();

      await press('Erase');
      await press('Erase permanently');
      await heading(`User ${ada.userId}, deleted`);
      await page.getByText('No residual personal data was found').waitFor();
      await look('5-erased');
      expect(complaints).toEqual([]);
      await page.context().close();
    },
  );

  test('are the targets of names in the history of an item', async ({
    ask,
    chromium,
    operator,
    signInAt,
  }) => {
    const { body } = await ask('POST', '/articles', {
      token: operator.token,
      body: { title: 'On names', body: 'One', tags: [] },
    });
    const page = await chromium.newPage();
    page.setDefaultTimeout(scaled(10_000));
    await signInAt(page, `/console/items/articles/${(body as { id: number }).id}`);
    // The author is named among the fields, too.
    await page.getByRole('region', { name: 'History' }).getByRole('link', { name: 'Grace' }).first().click();
    await page.getByRole('heading', { name: 'Latest actions' }).waitFor();
    await page.getByText('Drafted').first().waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/users/${operator.userId}`);
    await page.close();
  });
});
