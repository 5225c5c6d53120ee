import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { describeInChromium, expectFitting, picture, SIZES } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { test as base } from './chromium-fixture.ts';

const DEADLINE_MS = scaled(30_000);

/** Not ours to fix: the colours of the editor, and the button to close a tab within the tab. */
const AXE = { rules: { 'nested-interactive': { enabled: false } } };

type Judged = {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
};

const test = base.extend(
  'publish',
  { scope: 'file' },
  ({ ada, graphql }) =>
    (title: string) =>
      graphql(`mutation { createPost(input: { title: "${title}", body: "", publish: true }) { id } }`, {
        token: ada.token,
      }),
);

const replaceIn = async (page: Page, editor: string, text: string): Promise<void> => {
  await page.locator(`${editor} .monaco-editor >> visible=true`).click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
};

describeInChromium('GraphiQL in Chromium', () => {
  test.for(SIZES)(
    'on a %s it queries, and mutates with a token, and loads nothing from elsewhere',
    async ([size, options], { ada, chromium, installation, publish }) => {
      const context = await chromium.newContext(options);
      const page = await context.newPage();
      page.setDefaultTimeout(DEADLINE_MS);
      const complaints: string[] = [];
      const elsewhere: string[] = [];
      page.on(
        'console',
        (message) => void (['error', 'warning'].includes(message.type()) && complaints.push(message.text())),
      );
      page.on('pageerror', (error) => void complaints.push(String(error)));
      page.on('request', (request) => {
        if (!request.url().startsWith(installation.origin) && !request.url().startsWith('data:'))
          elsewhere.push(request.url());
      });
      await page.goto(`${installation.origin}/graphql`);
      const run = page.getByRole('button', { name: /Execute query/ });
      await run.waitFor();
      await picture(page, `graphiql-${size}`);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<Judged>(
        `axe.run({ exclude: ['.monaco-editor'] }, ${JSON.stringify(AXE)})`,
      );
      expect(
        violations.map(
          ({ impact, id, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
        ),
      ).toEqual([]);
      await run.click();
      await page.locator('.graphiql-response').getByText('"posts"').waitFor();
      await replaceIn(
        page,
        '[aria-label="Headers"]',
        JSON.stringify({ Authorization: `Bearer ${ada.token}` }),
      );
      await replaceIn(
        page,
        '.graphiql-query-editor',
        'mutation Write { createPost(input: { title: "By hand", body: "" }) { title author { name } } }',
      );
      // The page reads the typed text a moment later.
      await page.getByRole('tab', { name: 'Write' }).waitFor();
      await run.click();
      await page
        .locator('.graphiql-response')
        .getByText('"By hand"')
        .waitFor({ timeout: scaled(10_000) })
        .catch(async (error: unknown) => {
          await picture(page, `graphiql-${size}-failed`);
          throw error;
        });
      await picture(page, `graphiql-${size}-mutation`);
      await replaceIn(
        page,
        '.graphiql-query-editor',
        'subscription Live { articlePublished { type article { title author { name } } } }',
      );
      await page.getByRole('tab', { name: 'Live' }).waitFor();
      await run.click();
      // The subscription shows events from now on, and the page does not report when it is connected.
      const live = page.locator('.graphiql-response').getByText('"As it happens"');
      await until(
        () => publish('As it happens').then(() => live.count()),
        (count) => count > 0,
      );
      await picture(page, `graphiql-${size}-subscription`);
      await page.getByRole('button', { name: /Stop query/ }).click();
      await expectFitting(page);
      expect({ complaints, elsewhere }).toEqual({ complaints: [], elsewhere: [] });
      await context.close();
    },
  );
});

describeInChromium('signing in to GraphiQL', () => {
  test('who is signed in runs queries as themselves; a link with a query runs as nobody', async ({
    ada,
    chromium,
    installation,
  }) => {
    const context = await chromium.newContext();
    const page = await context.newPage();
    page.setDefaultTimeout(DEADLINE_MS);
    await page.goto(`${installation.url}/graphql`);
    // Without a session, the page says so, and asks no second time.
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signInOn(page, ada);
    await page.getByText('Ada', { exact: true }).waitFor();
    await picture(page, 'graphiql-signed-in');
    expect(new URL(page.url()).searchParams.has('code')).toBe(false);
    const editor = (of: Page) => of.locator('.graphiql-query-editor').getByText('me', { exact: true });
    await editor(page).waitFor();
    await page.getByRole('button', { name: /Execute query/ }).click();
    await page.locator('.graphiql-response').getByText('"Ada"').waitFor();
    const fresh = await context.newPage();
    fresh.setDefaultTimeout(DEADLINE_MS);
    await fresh.goto(`${installation.url}/graphql`);
    await fresh.getByText('Ada', { exact: true }).waitFor();
    await fresh.goto(`${installation.url}/graphql?query=${encodeURIComponent('{ me { name } }')}`);
    await fresh.getByRole('button', { name: 'Sign in' }).waitFor();
    await editor(fresh).waitFor();
    await fresh.getByRole('button', { name: /Execute query/ }).click();
    await fresh.locator('.graphiql-response').getByText('null').waitFor();
    await context.close();
  });
});

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test('the page is for browsers only, runs only our scripts, and its files may be cached permanently', async ({
  installation,
}) => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    installation.fetch(`${installation.url}${path}`, { headers });
  const page = await get('/graphql', BROWSER);
  expect(page.headers.get('content-security-policy')).toMatch(
    /default-src 'none'; script-src 'self'; worker-src 'self';/,
  );
  expect(page.headers.get('vary')).toMatch(/Accept/);
  const paths = [...(await page.text()).matchAll(/"(graphql\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(paths).toHaveLength(8);
  for (const path of paths) {
    const asset = await get(`/${path}`);
    expect([asset.status, asset.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
    await asset.body?.cancel();
  }
  expect((await get('/graphql/assets/unknown/start.js')).status).toBe(404);
  const again = await get('/graphql', { ...BROWSER, 'if-none-match': page.headers.get('etag') ?? '' });
  expect(again.status).toBe(304);
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.9'])
    expect((await get('/graphql?query={__typename}', { accept })).headers.get('content-type')).toMatch(
      /^application\/json/,
    );
});
