// Takes minutes, so it starts first.
// Over 200 lines, because every page is looked at in the one installation that is set up here.

import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { openConfiguredEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium, expectStill, sizesOf, watchShifts } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { test as base } from './console-window.ts';

/** A longer test, because one signed-in user looks at every section of the one installation. */
const DEADLINE_MS = scaled(20_000);

const test = base
  .extend(
    'draft',
    { scope: 'file' },
    ({ ada, create }) =>
      (title: string) =>
        create('/articles', ada, { title, body: 'One\nTwo', tags: [] }),
  )
  /** Writes an article that is unreadable, because of an event of a later release. */
  .extend('parkArticle', { scope: 'file' }, ({ draft, installation }) => async (): Promise<string> => {
    const stream = `article-${await draft('On engines')}` as StreamName;
    const { DATABASE_URL: databaseUrl = '', EVENT_LOG_URL: eventLogUrl } = installation.settings;
    await using log = await openConfiguredEventLog({ eventLogUrl, databaseUrl, clock: REAL_TIME });
    await log.append(stream, 'any', [
      { id: randomUUID() as EventId, type: 'article.engraved', data: {}, metadata: {} },
    ]);
    return stream;
  })
  /** Parks a consequence, which is retried no more. */
  .extend(
    'skipConsequence',
    { scope: 'file' },
    ({ installation }) =>
      () =>
        inDatabase(installation.settings.DATABASE_URL ?? '', (client) =>
          client.query(`insert into process_manager.parked (task, stream, cause_id, cause_metadata, reason, attempts, next_at, skipped_at)
        values ('end', 'comment-4001', gen_random_uuid(), '{}', 'No key.', 3, now(), now()) on conflict do nothing`),
        ),
  )
  /** Nobody has caused it, so verification would find it. */
  .extend(
    'forgetConsequence',
    { scope: 'file' },
    ({ installation }) =>
      () =>
        inDatabase(installation.settings.DATABASE_URL ?? '', (client) =>
          client.query(`delete from process_manager.parked where stream = 'comment-4001'`),
        ),
  )
  .extend('openOn', { scope: 'file' }, ({ openWindow }) => async (device) => {
    const window = await openWindow(device);
    const { page, complaints } = window;
    await watchShifts(page);
    page.on(
      'console',
      (message) => void (['error', 'warning'].includes(message.type()) && complaints.push(message.text())),
    );
    return window;
  });

describeInChromium('the console in Chromium', () => {
  describe.each(sizesOf(CONSOLE_SIZES, 'desktop'))('on a %s', (size, options) => {
    test.override('device', { size, options });

    test('a sign-in returns to the requested page, and new events appear by themselves', async ({
      ada,
      ask,
      draft,
      installation,
      operator,
      window: { page, heading, press, look },
    }) => {
      const entryOf = (id: number) =>
        page.locator('summary', { has: page.locator(`[title="article-${id}"]`) });
      await page.goto(`${installation.url}/console/feed`);
      await signInOn(page, operator);
      await heading('Events');
      expect(page.url()).toBe(`${installation.url}/console/events`);
      // Events from before the visit.
      await page.locator('summary').first().waitFor();
      await page.getByText('live', { exact: true }).waitFor();
      const first = await draft('While we look');
      await entryOf(first).waitFor();
      await press('Pause');
      const second = await draft('While we rest');
      await press('Resume (1)');
      await entryOf(second).waitFor();
      await page.locator('summary').first().click();
      await look('events');

      await page.getByLabel('Item', { exact: true }).fill(`article-${first}`);
      await page.getByLabel('Item', { exact: true }).press('Enter');
      await until(
        () => page.url(),
        (url) => url.endsWith(`?subject=article-${first}`),
      );
      await page.getByText('live', { exact: true }).waitFor();
      await ask('POST', `/articles/${second}/publish`, { token: ada.token });
      await ask('POST', `/articles/${first}/publish`, { token: ada.token });
      await page.locator('summary', { hasText: 'article.published' }).waitFor();
      expect(await entryOf(second).count()).toBe(0);
    });

    test('a reload needs no sign-in page', async ({ window: { page, heading } }) => {
      await page.reload();
      await heading('Events');
      await page.getByText('live', { exact: true }).waitFor();
      // The text for live updates is shorter than the one before them.
      await expectStill(page, 0.01);
      expect(
        await page.evaluate('Object.keys(localStorage).length + Object.keys(sessionStorage).length'),
      ).toBe(0);
    });

    test('the overview shows the state of everything, now and over time', async ({
      window: { page, go, press, look },
    }) => {
      await go('Overview');
      await page.getByText(/^All \d+ checks pass\.$/).waitFor();
      await expect.poll(() => page.locator('canvas').count(), { timeout: DEADLINE_MS }).toBe(3);
      await page.getByRole('img', { name: /^Lag\. .*projector: now/ }).waitFor();
      await page.getByRole('cell', { name: 'projector' }).waitFor();
      await page.reload();
      await page.getByText(/^All \d+ checks pass\.$/).waitFor();
      await page.getByRole('img', { name: /^Lag\. .*projector: now/ }).waitFor();
      // A check that begins to pass takes its line away.
      await expectStill(page, 0.05);
      await look('overview');
      await press('6 h');
      await page.reload();
      await page.getByRole('button', { name: '6 h', pressed: true }).waitFor();
    });

    test('a parked item is retried, and an event skipped', async ({
      parkArticle,
      skipConsequence,
      window: { page, heading, go, press, look },
    }) => {
      await go('Parked');
      await page.getByText('Nothing is parked.').waitFor();
      const stream = await parkArticle();
      await page.getByRole('link', { name: stream }).waitFor();
      await page
        .getByText('No consequence is parked.')
        .or(page.getByRole('link', { name: 'comment-4001' }))
        .waitFor();
      await skipConsequence();
      await page
        .getByRole('row', { name: /comment-4001 .*end it .*No key\. .*3 .*an operator skipped it/ })
        .waitFor();
      await look('parked');
      await press('Retry');
      await heading(`Retry ${stream}`);
      await page.getByText('failed', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Parked items' }).click();
      await press('Skip');
      await page.getByRole('dialog').getByText('stays in the log').waitFor();
      await look('skip');
      await press('Skip it');
      await heading(`Skip version 2 of ${stream}`);
      await page.getByText('done', { exact: true }).waitFor();
      await look('operator-command');
      await go('Operator commands');
      await page.getByRole('link', { name: `Skip version 2 of ${stream}` }).waitFor();
      await look('operator-commands');
    });

    test('everything is verified at the press of a button', async ({
      forgetConsequence,
      window: { page, heading, go, press, look },
    }) => {
      await forgetConsequence();
      await go('Proof');
      await page.getByText('Last verified position').waitFor();
      await look('proof');
      await press('Verify everything');
      await heading('Verify everything');
      await page.getByText('Proven.').waitFor();
      await look('verified');
    });

    test('one can move through the history of an item', async ({
      ada,
      ask,
      draft,
      window: { page, heading, go, press, look },
    }) => {
      const id = await draft('On engines');
      await ask('PATCH', `/articles/${id}`, {
        token: ada.token,
        body: { title: 'On looms', body: 'One\nThree' },
      });
      await go('Data');
      await page.getByLabel('Item', { exact: true }).fill(`article-${id}`);
      await look('items');
      await press('Show its history');
      await heading('History: On looms');
      const then = page.getByRole('region', { name: 'Then' });
      await then.getByText('On looms').waitFor();
      expect(await page.locator('.diff .added').first().textContent()).toContain('+Three');
      await page.getByRole('slider').focus();
      await page.keyboard.press('ArrowLeft');
      await until(
        () => page.url(),
        (url) => url.endsWith('?version=1'),
      );
      await then.getByText('On engines').waitFor();
      await look('item');
    });

    test('the deliveries of a webhook are shown, and sent again', async ({
      ada,
      create,
      draft,
      sink,
      window: { page, heading, go, press, look },
    }) => {
      const began = new Date().toISOString();
      await create('/webhooks', ada, { url: `${sink.url}/${size}`, eventTypes: ['article.drafted'] });
      await draft('On engines');
      await go('Webhooks');
      await look('webhooks');
      await page.getByRole('link', { name: `${sink.url}/${size}` }).click();
      await heading(`${sink.url}/${size}`.replace('http://', ''));
      await page.getByRole('cell', { name: 'delivered' }).first().waitFor();
      await look('webhook');
      await page.getByRole('link', { name: 'article.drafted' }).first().click();
      await page.getByText('Attempt 1').waitFor();
      const before = sink.received.filter(({ path }) => path === `/${size}`).length;
      await press('Send again');
      await page.getByText('Attempt 2').waitFor();
      expect(sink.received.filter(({ path }) => path === `/${size}`)).toHaveLength(before + 1);
      await look('delivery');
      await page.locator('.back').getByRole('link').click();
      await press('Replay');
      await page.getByRole('dialog').getByLabel('Since').fill(began);
      await page.getByRole('dialog').getByRole('button', { name: 'Replay' }).click();
      await page.getByRole('cell', { name: /\bfinished$/ }).waitFor();
      await look('replayed');
      await press('Disable');
      await press('Disable it');
      await page.getByText('disabled', { exact: true }).waitFor();
    });

    test('a client is created, gets another secret, and is deleted', async ({
      window: { page, heading, go, press, look },
    }) => {
      await go('Clients');
      await page.getByRole('link', { name: 'Console', exact: true }).waitFor();
      // The console got its token when the operator signed in.
      await page.getByRole('row', { name: 'Console' }).locator('time').waitFor();
      await look('clients');
      await page.getByRole('link', { name: 'New client' }).click();
      await page.getByLabel('Name').fill('Robot');
      await page.getByLabel('Id').fill(`robot-${size}`);
      await page.getByLabel('Role of its account').selectOption('author');
      await page.getByLabel('write:articles').check();
      await page.goBack();
      await heading('Clients');
      await page.goForward();
      await page.getByText('Your input from before is here again.').waitFor();
      expect(await page.getByLabel('Name').inputValue()).toBe('Robot');
      expect(await page.getByLabel('Role of its account').inputValue()).toBe('author');
      expect(await page.getByLabel('write:articles').isChecked()).toBe(true);
      await look('client-new');
      await press('Register it');
      const secret = await page.locator('.secret code').textContent();
      expect(secret).toMatch(/\S{20,}/);
      expect(await page.evaluate('Object.keys(sessionStorage).join()')).not.toContain('draft');
      await page.getByRole('link', { name: `robot-${size}` }).click();
      await heading('Robot');
      await page.getByText('never', { exact: true }).waitFor();
      await press('New secret');
      await press('Create a new secret');
      await expect
        .poll(() => page.locator('.secret code').textContent(), { timeout: DEADLINE_MS })
        .not.toBe(secret);
      await look('client');
      await press('Delete');
      await press('Delete it');
      await heading('Clients');
    });

    test('an impossible action is reported with a remedy', async ({
      installation,
      window: { page, complaints, heading },
    }) => {
      await page.goto(`${installation.url}/console/orders/${randomUUID()}`);
      await page.getByRole('alert').getByText('Go back to the list.').waitFor();
      await page.getByRole('link', { name: 'All operator commands' }).click();
      await heading('Operator commands');
      // The browser reports every error status.
      complaints.length = 0;
    });

    test('after a sign-out, the sign-in page is shown', async ({
      window: { page, heading, press, look },
    }) => {
      await press('Sign out');
      await press('Sign out');
      await heading('You are signed out');
      await look('signed-out');
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByLabel('E-mail address').waitFor();
    });

    test('a user who is not an administrator sees only the data, and why', async ({
      ada,
      device,
      installation,
      openOn,
    }) => {
      const other = await openOn(device);
      await other.page.goto(`${installation.url}/console`);
      await signInOn(other.page, ada);
      await other.heading('Data');
      await until(
        () => other.page.getByRole('navigation').getByRole('link').allTextContents(),
        (links) => links.join() === 'Data,Users,Articles,Your account,Webhooks',
      );
      await other.page.goto(`${installation.url}/console/parked`);
      await other.page.getByRole('heading', { name: 'This page is for administrators' }).waitFor();
      await other.look('not-for-you');
      await other.context.close();
    });
  });
});
