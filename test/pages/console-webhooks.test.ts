// Takes minutes, so it starts first.
// Over 200 lines, because one endpoint is followed through every page, in the installation that is set up
// here.
import type { Page, Request } from 'playwright-core';
import { describe, expect } from 'vitest';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium } from '../engines/chromium.ts';
import { test as base, oncePerDevice } from './console-window.ts';

/** Lets the clock of the page run, which otherwise stands still, until a condition holds. */
const runUntil = (page: Page, read: () => Promise<number>, isSo: (count: number) => boolean) =>
  until(async () => {
    await page.clock.runFor(1_000);
    return read();
  }, isSo);

/** How many requests the page sends in a period of its clock. */
const asksWithin = async (page: Page, ms: number, isMeant: (path: string) => boolean): Promise<number> => {
  let asks = 0;
  const count = (request: { url(): string }) => {
    if (isMeant(new URL(request.url()).pathname)) asks += 1;
  };
  page.on('request', count);
  for (let passed = 0; passed < ms; passed += STEP_MS) await page.clock.runFor(STEP_MS);
  page.off('request', count);
  return asks;
};
const STEP_MS = 5_000;
/** The page with its four parts, at most twice: a minute of its clock also looks like a broken connection. */
const ASKS_MAX = 10;

/** The requests of the page that wait for their response. */
const unanswered = (page: Page, isMeant: (path: string) => boolean): ReadonlySet<Request> => {
  const open = new Set<Request>();
  page.on('request', (request) => isMeant(new URL(request.url()).pathname) && open.add(request));
  const end = (request: Request) => void open.delete(request);
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  return open;
};

/** As if another tab were in front. */
const lookAway = (page: Page, isAway: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: ${JSON.stringify(isAway ? 'hidden' : 'visible')} });
    document.dispatchEvent(new Event('visibilitychange'));
  `);

/** Where changes must name a version. */
const test = base
  .extend('installationOptions', { scope: 'file' }, { settings: { REQUIRE_IF_MATCH: 'on' } })
  .extend('pictures', { scope: 'file' }, 'webhooks')
  .extend(
    'draft',
    { scope: 'file' },
    ({ ada, create }) =>
      (title: string) =>
        create('/articles', ada, { title, body: '', tags: [] }),
  )
  /** A receiver of two endpoints for each device. One of them, the shop, may be closed. */
  .extend('shop', { scope: 'file' }, ({ sink }) => {
    const shop = { isClosed: true, urlOn: (size: string) => `${sink.url}/closed-${size}` };
    sink.behave(({ path }, response) => {
      const isRefused = path.startsWith('/closed') && shop.isClosed;
      response
        .writeHead(isRefused ? 500 : 200, { 'content-type': 'text/plain' })
        .end(isRefused ? 'The shop is closed.' : 'Thanks.');
    });
    return shop;
  })
  .extend('endpointsOn', { scope: 'file' }, ({ ada, ask, create, draft, installation, shop, sink }) =>
    oncePerDevice(async ({ size }) => {
      shop.isClosed = true;
      const register = (url: string, description: string) =>
        create('/webhooks', ada, { url, description, eventTypes: ['article.*'] });
      const opened = await register(`${sink.url}/open-${size}`, `The archive (${size})`);
      const closed = await register(shop.urlOn(size), `The shop (${size})`);
      for (const title of ['On engines', 'On looms', 'On tables']) await draft(title);
      await until(
        async () =>
          (await ask('GET', `/deliveries?webhookId=${closed}&state=failed`, { token: ada.token }))
            .body as readonly { id: string }[],
        ({ length }) => length === 3,
      );
      // Simulates a dead letter of the day before, as the browser counts days: the database has another time zone.
      const noon = new Date();
      noon.setHours(-12, 0, 0, 0);
      await inDatabase(installation.settings.DATABASE_URL ?? '', (client) =>
        client.query(
          `update webhook_ledger.delivery set state = 'dead', settled_at = now(), attempts = 10, created_at = $2
           where (webhook_id, event_id) = (select webhook_id, event_id from webhook_ledger.delivery where webhook_id = $1 order by position limit 1)`,
          [closed, noon],
        ),
      );
      return { opened, closed };
    }),
  )
  .extend('openOn', { scope: 'file' }, ({ endpointsOn, operator, signIn }) => async (device) => {
    await endpointsOn(device);
    return signIn(operator, device, '/console/webhooks', 'Webhooks');
  })
  .extend('opened', async ({ device, endpointsOn }) => (await endpointsOn(device)).opened)
  .extend('closed', async ({ device, endpointsOn }) => (await endpointsOn(device)).closed)
  .extend('closedUrl', ({ device, shop }) => shop.urlOn(device.size));

/** A new user finds why a webhook did not arrive, and redelivers yesterday's failures. */
describeInChromium('webhooks in Chromium', () => {
  describe.each(CONSOLE_SIZES)('on a %s', (size, options) => {
    test.override('device', { size, options: { ...options, reducedMotion: 'reduce' } });

    test('failures come first, with reason and time', async ({
      closedUrl,
      window: { page, heading, press, look },
    }) => {
      await heading('Webhooks');
      await page
        .getByText(new RegExp(`closed-${size} is failing\\. .*The receiver answered with status 500\\.`))
        .waitFor();
      await look('1-list');
      await press(/^Needs attention/);
      await until(
        () => page.url(),
        (url) => url.endsWith('?show=attention'),
      );
      await page.getByRole('link', { name: closedUrl, exact: true }).click();
      await heading(closedUrl.replace('http://', ''));
      await page.getByText('The receiver failed. Look for the webhook-id in its log.').waitFor();
      await page.getByRole('img', { name: /^Attempts in each 15 min\. Arrived: .*; Failed: now/ }).waitFor();
      await look('2-endpoint');
    });

    test('a delivery shows the request, the answer and the remedy', async ({
      window: { page, heading, look },
    }) => {
      await page.getByRole('link', { name: 'article.drafted' }).first().click();
      await heading('Delivery of article.drafted');
      await page.getByText('The shop is closed.').first().waitFor();
      await page.getByText('webhook-signature: v1,').first().waitFor();
      await page.getByText('"type": "article.drafted"').waitFor();
      await look('3-delivery');
    });

    test('pages follow deliveries, send few requests while nothing happens, and none in the background', async ({
      draft,
      installation,
      opened,
      window: { page },
      onTestFinished,
    }) => {
      const isMeant = (path: string) => /^\/(webhooks|deliveries)\b/.test(path);
      const rows = page.getByRole('link', { name: 'article.drafted' });
      await page.clock.install();
      onTestFinished(() => page.clock.resume());
      const open = unanswered(page, isMeant);
      await page.goto(`${installation.url}/console/webhooks/${opened}`);
      await rows.first().waitFor();
      await page.clock.pauseAt(Date.now() + 60_000);
      const before = await rows.count();
      await draft('While we look at deliveries');
      await runUntil(
        page,
        () => rows.count(),
        (count) => count > before,
      );
      await runUntil(
        page,
        () => asksWithin(page, 50_000, isMeant),
        (asks) => asks <= ASKS_MAX,
      );
      await lookAway(page, true);
      // A refresh that began before ends.
      await runUntil(
        page,
        async () => (await asksWithin(page, STEP_MS, isMeant)) + open.size,
        (asks) => asks === 0,
      );
      await draft('While nobody looks');
      expect(await asksWithin(page, 300_000, isMeant)).toBe(0);
      await lookAway(page, false);
      await runUntil(
        page,
        () => rows.count(),
        (count) => count > before + 1,
      );
    });

    test('yesterday’s failures are redelivered, after a confirmation of their number', async ({
      closed,
      shop,
      window: { page, heading, press, look },
    }) => {
      await page
        .getByRole('navigation', { name: 'Sections' })
        .getByRole('link', { name: 'Webhooks' })
        .click();
      await page.getByRole('link', { name: 'Find deliveries' }).click();
      await heading('Deliveries');
      await page.getByLabel('When').selectOption('Yesterday');
      await page.getByLabel('Endpoint').selectOption({ label: `The shop (${size})` });
      await page.getByRole('cell', { name: /dead/ }).waitFor();
      await look('4-found');
      shop.isClosed = false;
      await press('Send all 1 failed delivery again');
      await page.getByRole('dialog').getByText('1 dead, 0 waiting for a retry').waitFor();
      await look('5-confirm');
      await press('Send 1 again');
      await page.getByText('1 delivery is due again.').waitFor();
      await page.getByRole('cell', { name: /delivered/ }).waitFor();
      expect(page.url()).toContain(`webhookId=${closed}`);
    });

    test('an endpoint is created, tested, changed and deleted', async ({
      installation,
      shop,
      sink,
      window: { page, heading, press, look },
    }) => {
      await page.goto(`${installation.url}/console/webhooks/new`);
      await heading('New endpoint');
      await page.getByLabel('URL').fill('not an address');
      await page.getByLabel('These types').check();
      await page
        .getByText(/^article \d+ of/)
        .or(page.locator('summary', { hasText: /^article/ }))
        .first()
        .click();
      await page.getByLabel('All of article').check();
      await look('6-new');
      await press('Register');
      await page.getByText('Must be an http(s) URL').waitFor();
      // Refused by the decision, not by the form.
      await page.getByLabel('URL').fill('http://10.0.0.1/');
      await press('Register');
      await page.locator('.wrong', { hasText: /address/ }).waitFor();
      await page.getByLabel('URL').fill(`${sink.url}/closed-new-${size}`);
      shop.isClosed = true;
      await press('Register');
      await heading('Endpoint registered');
      expect(await page.locator('.secret code').textContent()).toMatch(/^whsec_/);
      await press('Send a test event');
      await page.getByText('The test event failed.').waitFor();
      await page.getByText('The shop is closed.').waitFor();
      shop.isClosed = false;
      await press('Send a test event');
      await page.getByText('The test event arrived.').waitFor();
      await look('7-registered');
      await page.getByRole('link', { name: 'Open the endpoint' }).click();
      await page.getByRole('link', { name: 'Edit', exact: true }).click();
      await heading('Edit endpoint');
      await page.getByLabel('Description').fill('A third receiver');
      await page.getByLabel('Additional headers').fill('X-Team: blue');
      await press('Save');
      await page.getByText('A third receiver').first().waitFor();
      await page.getByText('X-Team').waitFor();
      await press('New secret');
      await press('Create a new secret');
      await page.locator('.secret code').waitFor();
      await press('Delete');
      await press('Delete it');
      await heading('Webhooks');
    });

    test('owners who are not administrators have the same parts in their account', async ({
      ada,
      closed,
      closedUrl,
      device,
      installation,
      signIn,
      window: { page, heading },
    }) => {
      const own = await signIn(ada, device, '/account/webhooks', 'Webhooks');
      await own.page.getByRole('link', { name: closedUrl, exact: true }).click();
      await own.heading(closedUrl.replace('http://', ''));
      await own.look('8-account');
      expect(new URL(own.page.url()).pathname).toBe(`/account/webhooks/${closed}`);
      await own.page.getByRole('link', { name: 'article.drafted' }).first().click();
      await own.heading('Delivery of article.drafted');
      await own.page.goto(`${installation.url}/console/webhooks/${closed}`);
      await own.heading(closedUrl.replace('http://', ''));
      expect(new URL(own.page.url()).pathname).toBe(`/account/webhooks/${closed}`);
      expect(own.complaints).toEqual([]);
      await own.context.close();
      // And administrators have all of them in the console.
      await page.goto(`${installation.url}/account/webhooks`);
      await heading('Webhooks');
      expect(new URL(page.url()).pathname).toBe('/console/webhooks');
    });
  });
});
