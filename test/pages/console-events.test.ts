// Takes minutes, so it starts first.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { startWebhookSink } from '../../testing/http/webhook-sink.ts';
import { openPeople, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { CONSOLE_SIZES, describeInChromium, launchChromium } from '../engines/chromium.ts';
import { signInOn, signUpOperator } from '../engines/console.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { type ConsoleWindow, openConsoleWindow } from './console-window.ts';

/** More than one page. */
const EDITS = 60;

describeInChromium('the events of the console', () => {
  const open = new AsyncDisposableStack();
  let installation: Installation;
  let ask: RestClient;
  let operator: Person;
  let author: Person;
  let chromium: Browser;
  /** A deleted user, with their drafts. */
  let departed: Person;
  let article: number;
  beforeAll(async () => {
    installation = open.use(await startInstallation());
    const sink = open.use(await startWebhookSink());
    ask = restClientOf(installation);
    const people = await openPeople(installation);
    operator = await signUpOperator(installation, people);
    author = await people.signUp('Ada');
    departed = await people.signUp('Otto');
    await make('/webhooks', operator, { url: sink.url, eventTypes: ['user.*', 'article.*'] });
    await make('/articles', departed, { title: 'One', body: '', tags: [] });
    await make('/articles', departed, { title: 'Two', body: '', tags: [] });
    await ask('DELETE', `/users/${departed.userId}`, { token: operator.token });
    article = await make('/articles', author, { title: 'On engines', body: 'Text', tags: [] });
    for (let edit = 1; edit <= EDITS; edit += 1)
      await ask('PATCH', `/articles/${article}`, {
        token: author.token,
        body: { title: `On engines ${edit}` },
      });
    chromium = await launchChromium();
    open.defer(() => chromium.close());
  });
  afterAll(() => open.disposeAsync());

  const make = async (path: string, { token }: Person, body: object): Promise<number> => {
    const made = await ask('POST', path, { token, body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return (made.body as { id: number }).id;
  };

  describe.each(CONSOLE_SIZES)('on a %s', (size, options) => {
    let { context, page, look } = {} as ConsoleWindow;
    beforeAll(async () => {
      ({ context, page, look } = await openConsoleWindow({
        chromium,
        options: { ...options, reducedMotion: 'reduce' },
        pictures: `console-events-${size}`,
      }));
    });
    afterAll(() => context?.close());
    const entries = () => page.locator('.feed > li');
    const go = async (path: string) => {
      await page.goto(`${installation.url}${path}`);
      const heading = page.getByRole('heading', { level: 1 });
      await page.getByLabel('E-mail address').or(heading.first()).first().waitFor();
      if ((await page.getByLabel('E-mail address').count()) > 0) {
        await signInOn(page, operator);
      }
      await page.getByRole('navigation', { name: 'Sections' }).waitFor();
      await heading.waitFor();
    };

    test('the latest are shown at once, and older ones load on scrolling', async () => {
      await go('/console/events');
      await page.getByText('live', { exact: true }).waitFor();
      // They have just signed in.
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
      await ask('PATCH', `/articles/${article}`, {
        token: author.token,
        body: { title: `Meanwhile on a ${size}` },
      });
      await page.getByRole('button', { name: '1 new event' }).click();
      await page.locator('.feed > li').first().click();
      await page.locator('.json').first().getByText(`Meanwhile on a ${size}`).waitFor();
      await look('events-open');
    });

    test('filters are in the address, and text is found in the data', async () => {
      await page.getByLabel('Text in the data').fill('on ENGINES 42');
      await page.getByLabel('Text in the data').press('Enter');
      await until(
        () => entries().count(),
        (count) => count === 1,
      );
      expect(page.url()).toBe(`${installation.url}/console/events?text=on+ENGINES+42`);
      await go(`/console/events?types=article.*&by=${departed.userId}`);
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

    test('one event shows its cause and its consequences', async () => {
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
      await go(`/console/events/${deleted?.id}`);
      await page.getByRole('heading', { level: 1, name: `Deleted: user-${departed.userId}` }).waitFor();
      const tree = page.locator('.tree');
      await tree.getByText('(this event)').waitFor();
      expect(await tree.getByText('as a reaction by the process manager').count()).toBe(2);
      expect(await tree.getByRole('link', { name: /^Delivery to webhook/ }).count()).toBe(3);
      await page.getByText(/^event \d+ of the log$/).waitFor();
      await look('event');
      await tree.getByRole('link', { name: 'Deleted' }).first().click();
      await page.getByRole('heading', { level: 1, name: /^Deleted: article-/ }).waitFor();
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

    test('each entry of a history leads to it', async () => {
      await go(`/console/items/articles/${article}`);
      await page
        .getByRole('link', { name: /^Why\? v/ })
        .first()
        .click();
      await page.getByRole('heading', { level: 1, name: `Edited: article-${article}` }).waitFor();
      await page.getByRole('heading', { name: 'Causes and consequences' }).waitFor();
    });
  });
});
