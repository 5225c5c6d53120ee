import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { describeInChromium } from '../engines/chromium.ts';
import { CLIENT_MODULE, clientModule, IMPORT_MAP } from '../engines/client-modules.ts';
import { signInOn } from '../engines/console.ts';
import { startLocalServer } from '../engines/local-server.ts';
import { test as base } from './chromium-fixture.ts';

/** Pages that another server of this machine serves sign in by one call, without being registered. */

const pageOf = (url: string, script: string): string => `<!doctype html><html lang="en">
<meta charset="utf-8"><title>A page</title>
<script type="importmap">${IMPORT_MAP}</script>
<body><button type="button">Sign in</button>
<script type="module">
  import { signIn } from 'annals/client/sign-in';
  const url = ${JSON.stringify(url)};
  const show = async ({ client, session }) => {
    Object.assign(window, { client, session });
    window.shown = session.isSignedIn ? (await client.me()).name : 'nobody';
  };
  const fail = ({ code }) => { window.shown = code; };
  ${script}
</script></html>`;

const SCRIPTS: Readonly<Record<string, string>> = {
  '/required/page.html': 'signIn({ url }).then(show, fail);',
  '/popup': `signIn({ url, required: false }).then(show, fail);
    document.querySelector('button').onclick = () => signIn({ url, popup: true }).then(show, fail);`,
};

const test = base
  .extend('site', { scope: 'file' }, async ({ installation }, { onCleanup }) => {
    const server = await startLocalServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://any.invalid');
      const module = pathname.slice('/annals/'.length);
      const script = SCRIPTS[pathname];
      if (script !== undefined)
        return void response
          .writeHead(200, { 'Content-Type': 'text/html' })
          .end(pageOf(installation.origin, script));
      if (!CLIENT_MODULE.test(module)) return void response.writeHead(404).end();
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(clientModule(module));
    });
    onCleanup(() => server[Symbol.asyncDispose]());
    return server;
  })
  .extend('context', async ({ chromium }, { onCleanup }) => {
    const context = await chromium.newContext();
    context.setDefaultTimeout(scaled(30_000));
    onCleanup(() => context.close());
    return context;
  });

const shown = async (page: Page): Promise<unknown> =>
  (await page.waitForFunction('window.shown !== undefined')) && page.evaluate('shown');
const decide = (page: Page, decision: string) =>
  page.getByRole('button', { name: decision, exact: true }).click();

describeInChromium('signing in from a page in one call', () => {
  test('by a redirect: the user returns to the address where they were, and stays signed in', async ({
    ada,
    context,
    site,
  }) => {
    const page = await context.newPage();
    const address = `${site.url}/required/page.html?tag=a#part`;
    await page.goto(address);
    await signInOn(page, ada);
    await page.getByText('A page in development at').first().waitFor();
    const sent = page.waitForRequest((asked) => asked.url().endsWith('/me') && asked.method() === 'GET');
    await decide(page, 'Allow');
    const { authorization } = await (await sent).allHeaders();
    expect([await shown(page), page.url(), authorization?.split(' ')[0]]).toEqual(['Ada', address, 'DPoP']);
    await page.reload();
    expect([await shown(page), page.url()]).toEqual(['Ada', address]);
    await page.evaluate('session.signOut()');
    expect(await page.evaluate('session.isSignedIn')).toBe(false);
  });

  test('a refusal of the user is an error, and the page does not ask again by itself', async ({
    ada,
    context,
    site,
  }) => {
    const page = await context.newPage();
    await page.goto(`${site.url}/required/page.html`);
    await signInOn(page, ada);
    await decide(page, 'Do not allow');
    expect(await shown(page)).toBe('access_denied');
  });

  test('by a window of its own, which closes itself', async ({ ada, context, site }) => {
    const page = await context.newPage();
    await page.goto(`${site.url}/popup`);
    expect(await shown(page)).toBe('nobody');
    const opened = context.waitForEvent('page');
    await decide(page, 'Sign in');
    const popup = await opened;
    await signInOn(popup, ada);
    const closed = popup.waitForEvent('close');
    await decide(popup, 'Allow');
    await page.waitForFunction(`window.shown !== 'nobody'`);
    expect([await shown(page), await page.evaluate('session.isSignedIn')]).toEqual(['Ada', true]);
    await closed;
    expect(page.url()).toBe(`${site.url}/popup`);
  });
});
