import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { describeInChromium, picture } from '../engines/chromium.ts';
import { test as base } from './chromium-fixture.ts';

const DEADLINE_MS = scaled(60_000);

const test = base.extend(
  'openAt',
  { scope: 'file' },
  ({ chromium, installation }) =>
    async (address: string): Promise<Page> => {
      const page = await chromium.newPage();
      page.setDefaultTimeout(DEADLINE_MS);
      await page.goto(`${installation.origin}/docs/rest#${address}`);
      return page;
    },
);

describeInChromium('the reference of a whole installation', () => {
  test('tries an operation out with a token', async ({ ada, openAt }) => {
    const page = await openAt('/Users/getMe');
    const operation = operationIn(page, 'getMe');
    await tryIt(operation);
    await authorize(operation, ada.token);
    const answer = await execute(operation);
    await picture(page, 'docs-try-out');
    expect(await statusOf(answer)).toBe('200');
    expect(await answer.textContent()).toContain('Ada');
    await page.close();
  });

  test('sends the edited body', async ({ ada, openAt }) => {
    const page = await openAt('/Articles/createArticle');
    const operation = operationIn(page, 'createArticle');
    await tryIt(operation);
    await authorize(operation, ada.token);
    await operation.locator('textarea').fill('{ "title": "Tried out", "body": "On the page.", "tags": [] }');
    const answer = await execute(operation);
    expect(await statusOf(answer)).toBe('201');
    await page.close();
  });

  test('a token given for one operation is used for all, until it is removed', async ({ ada, openAt }) => {
    const page = await openAt('/Users/getMe');
    const [me, hooks, articles] = ['getMe', 'listWebhooks', 'listArticles'].map((id) =>
      operationIn(page, id),
    ) as [Locator, Locator, Locator];
    await tryIt(me);
    await hooks.locator('summary').click();
    await tryIt(hooks);
    const refused = await execute(hooks);
    expect(await statusOf(refused)).toBe('401');
    await authorize(me, ada.token);
    const answered = await execute(hooks, '200');
    expect(await answered.textContent()).not.toContain('unauthenticated');
    await articles.locator('summary').click();
    await tryIt(articles);
    await execute(articles, '200');
    const sent = articles.locator('.curl');
    expect(await sent.textContent()).toContain(`Bearer ${ada.token}`);
    await articles.getByRole('button', { name: 'Authorize' }).click();
    await bearerIn(articles)
      .getByRole('button', { name: /Logout|Remove/ })
      .click();
    await bearerIn(articles).getByRole('button', { name: 'Close' }).click();
    await execute(hooks, '401');
    await page.close();
  });
});

const operationIn = (page: Page, id: string): Locator => page.locator(`[data-operation="${id}"]`);

const tryIt = async (operation: Locator): Promise<void> => {
  await operation.getByRole('button', { name: 'Try it' }).click();
  await operation.getByRole('button', { name: 'Execute' }).waitFor();
};

const bearerIn = (operation: Locator): Locator => operation.locator('.auth-container', { hasText: 'bearer' });

const authorize = async (operation: Locator, token: string): Promise<void> => {
  await operation.getByRole('button', { name: 'Authorize' }).first().click();
  await bearerIn(operation).getByRole('textbox').fill(token);
  await bearerIn(operation)
    .getByRole('button', { name: /Authorize|Apply/ })
    .click();
  await bearerIn(operation).getByRole('button', { name: 'Close' }).click();
};

const statusOf = async (answer: Locator): Promise<string | undefined> =>
  (await answer.locator('.response-col_status').textContent())?.match(/^\d+/)?.[0];

/** The answer, once its status has arrived. */
const execute = async (operation: Locator, status?: string): Promise<Locator> => {
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response');
  await (status === undefined
    ? answer
    : answer.locator('.response-col_status', { hasText: status })
  ).waitFor();
  return answer;
};
