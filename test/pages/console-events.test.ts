import { describe, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium } from '../engines/chromium.ts';
import { signInOn } from '../engines/console.ts';
import { sharedConsoleTest } from './shared-console.ts';

/** More than one page. */
const EDITS = 60;

const test = sharedConsoleTest
  .extend('pictures', { scope: 'file' }, 'console-events')
  .extend('webhook', { scope: 'file' }, ({ create, operator, sink }) =>
    create('/webhooks', operator, { url: sink.url, eventTypes: ['user.*', 'article.*'] }),
  )
  /** A deleted user, with their drafts. */
  .extend('departed', { scope: 'file' }, async ({ ask, create, operator, people, webhook: _notified }) => {
    const departed = await people.signUp('Otto');
    for (const title of ['One', 'Two']) await create('/articles', departed, { title, body: '', tags: [] });
    await ask('DELETE', `/users/${departed.userId}`, { token: operator.token });
    return departed;
  })
  .extend('edit', { scope: 'file' }, ({ ada, ask }) => async (article: number, title: string) => {
    const edited = await ask('PATCH', `/articles/${article}`, { token: ada.token, body: { title } });
    expect(edited).toMatchObject({ status: 200 });
  })
  .extend('article', { scope: 'file' }, async ({ ada, create, departed: _first, edit }) => {
    const article = await create('/articles', ada, { title: 'On engines', body: 'Text', tags: [] });
    for (let count = 1; count <= EDITS; count += 1) await edit(article, `On engines ${count}`);
    return article;
  })
  .extend(
    'entries',
    ({ window: { page } }) =>
      () =>
        page.locator('.feed > li'),
  )
  .extend(
    'visit',
    ({ article: _written, installation, operator, window: { page } }) =>
      async (path: string) => {
        await page.goto(`${installation.url}${path}`);
        const heading = page.getByRole('heading', { level: 1 });
        await page.getByLabel('E-mail address').or(heading.first()).first().waitFor();
        if ((await page.getByLabel('E-mail address').count()) > 0) await signInOn(page, operator);
        await page.getByRole('navigation', { name: 'Sections' }).waitFor();
        await heading.waitFor();
      },
  );

describeInChromium('the events of the console', () => {
  describe.each(CONSOLE_SIZES)('on a %s', (size, options) => {
    test.override('device', { size, options: { ...options, reducedMotion: 'reduce' } });

    test('the latest are shown at once, and older ones load on scrolling', async ({
      article,
      edit,
      entries,
      visit,
      window: { page, look },
    }) => {
      await visit('/console/events');
      await page.getByText('live', { exact: true }).waitFor();
      // The visitor has just signed in.
      expect(await page.locator('.feed .type').first().textContent()).toBe('session.signed_in');
      await look('events');
      await until(
        async () => {
          await page.mouse.wheel(0, 4_000);
          return page.getByText('There are no older events.').count();
        },
        (count) => count === 1,
      );
      expect(await entries().count()).toBeGreaterThan(EDITS + 5);
      await edit(article, `Meanwhile on a ${size}`);
      await page.getByRole('button', { name: '1 new event' }).click();
      await page.locator('.feed > li').first().click();
      await page.locator('.json').first().getByText(`Meanwhile on a ${size}`).waitFor();
      await look('events-open');
    });

    test('filters are in the address, and text is found in the data', async ({
      departed,
      entries,
      installation,
      visit,
      window: { page },
    }) => {
      await page.getByLabel('Text in the data').fill('on ENGINES 42');
      await page.getByLabel('Text in the data').press('Enter');
      await until(
        () => entries().count(),
        (count) => count === 1,
      );
      expect(page.url()).toBe(`${installation.url}/console/events?text=on+ENGINES+42`);
      await visit(`/console/events?types=article.*&by=${departed.userId}`);
      await until(
        () => entries().count(),
        (count) => count === 2,
      );
      await page.getByRole('link', { name: 'Clear' }).click();
      await until(
        () => entries().count(),
        (count) => count === 50,
      );
    });

    test('one event shows its cause and its consequences', async ({
      ask,
      departed,
      entries,
      operator,
      visit,
      window: { page, look },
    }) => {
      const [deleted] = (
        await ask('GET', `/events?user=${departed.userId}&types=user.deleted`, { token: operator.token })
      ).body as {
        id: string;
      }[];
      const traced = `/events/${deleted?.id}/trace`;
      await until(
        async () =>
          (await ask('GET', traced, { token: operator.token })).body as {
            events: object[];
            deliveries: { state: string }[];
          },
        ({ events, deliveries }) =>
          events.length === 3 &&
          deliveries.length === 3 &&
          deliveries.every(({ state }) => state === 'delivered'),
      );
      await until(
        async () =>
          (await ask('GET', `/events/${deleted?.id}`, { token: operator.token })).body as {
            chain?: { count: number | null };
          },
        ({ chain }) => chain?.count != null,
      );
      await visit(`/console/events/${deleted?.id}`);
      await page.getByRole('heading', { level: 1, name: `Deleted: User ${departed.userId}` }).waitFor();
      const tree = page.locator('.tree');
      await tree.getByText('(this event)').waitFor();
      expect(await tree.getByText('as a reaction by the process manager').count()).toBe(2);
      expect(await tree.getByRole('link', { name: /^Delivery to / }).count()).toBe(3);
      await page.getByText(/^event \d+ of the log$/).waitFor();
      await look('event');
      await tree.getByRole('link', { name: 'Deleted' }).first().click();
      await page.getByRole('heading', { level: 1, name: /^Deleted: Article / }).waitFor();
      await page.getByText('JSON Schema of the data').click();
      await page.getByRole('link', { name: 'Events', exact: true }).last().click();
      await page.getByRole('button', { name: 'Show newer' }).click();
      await until(
        () => entries().count(),
        (count) => count > 50,
      );
      await page.getByRole('link', { name: 'Go to the latest' }).click();
      await page.getByText('live', { exact: true }).waitFor();
    });

    test('each entry of a history leads to it', async ({ article, visit, window: { page } }) => {
      await visit(`/console/items/articles/${article}`);
      await page
        .getByRole('link', { name: /^Why\? v/ })
        .first()
        .click();
      await page.getByRole('heading', { level: 1, name: /^Edited: (?:On engines|Meanwhile)/ }).waitFor();
      await page.getByRole('heading', { name: 'Causes and consequences' }).waitFor();
    });
  });
});
