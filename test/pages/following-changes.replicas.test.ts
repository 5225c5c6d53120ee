import { readFileSync } from 'node:fs';
import { request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { describeInChromium, launchChromium } from '../engines/chromium.ts';
import { type Following, openFollowing } from '../engines/following.ts';
import { shareInstallation } from '../engines/installation.ts';
import { startLocalServer } from '../engines/local-server.ts';

/** The instructions of docs/changes.md for web pages, on a page of another origin. */
const EXAMPLES = join(import.meta.dirname, '../../docs/examples');
const DEADLINE_MS = 60_000;

/** Each appends the cursors of its events to `received`. `url`, `from` and `token` are the page's. */
const WAYS: Readonly<Record<string, string>> = {
  'fetch-events.js': `
    import { followEvents } from './fetch-events.js';
    for await (const event of followEvents({ url, token, types: ['article.published'], after: from })) received.push(event.cursor);`,
  'event-source.js': `
    import { followPublished } from './event-source.js';
    followPublished({ url, token, after: from, onChange: ({ cursor }) => received.push(cursor) });`,
  'an EventSource by a server that adds the token': `
    const source = new EventSource('/events?types=article.published&after=' + from);
    source.onmessage = ({ lastEventId }) => received.push(lastEventId);`,
};

describeInChromium('in Chromium', () => {
  const open = new AsyncDisposableStack();
  let following: Following;
  let chromium: Browser;
  let origin: string;
  beforeAll(async () => {
    following = open.use(await openFollowing(await shareInstallation()));
    chromium = await launchChromium();
    open.defer(() => chromium.close());
    origin = await serveSite();
  });
  afterAll(() => open.disposeAsync());

  /** A third-party site: a page that runs one of the ways, the examples, and a proxied stream of Annals. */
  const serveSite = async (): Promise<string> => {
    const server = await startLocalServer((asked, response) => {
      const { pathname, searchParams } = new URL(asked.url ?? '/', 'http://site');
      if (pathname === '/events')
        return void passOn(asked.url ?? '', asked.headers['last-event-id'], response);
      if (pathname.endsWith('.js'))
        return void response
          .setHeader('Content-Type', 'text/javascript')
          .end(readFileSync(join(EXAMPLES, pathname)));
      const script = `const [url, from] = ${JSON.stringify([following.network.url, searchParams.get('from') || undefined])};${WAYS[searchParams.get('way') ?? '']}`;
      response
        .setHeader('Content-Type', 'text/html')
        .end(`<!doctype html><script>received = []</script><script type="module">${script}</script>`);
    });
    return open.use(server).url;
  };

  const passOn = async (
    path: string,
    lastEventId: string | string[] | undefined,
    response: ServerResponse,
  ): Promise<void> => {
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${await following.tokenOfFollower()}`,
      ...(lastEventId && { 'last-event-id': lastEventId }),
    };
    const asked = request(new URL(path, following.network.url), { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 503, { 'Content-Type': answer.headers['content-type'] });
      answer.on('error', () => response.destroy()).pipe(response);
    });
    // An error status would tell the browser not to reconnect.
    asked.on('error', () => response.destroy()).end();
    response.on('close', () => asked.destroy());
  };

  const openPage = async (way: string, from: string): Promise<Page> => {
    const page = await chromium.newPage();
    await page.exposeFunction('token', () => following.tokenOfFollower());
    await page.goto(`${origin}/?${new URLSearchParams({ way, from })}`);
    return page;
  };

  const untilReceived = (page: Page, count: number): Promise<readonly string[]> =>
    until(
      () => page.evaluate<readonly string[]>('received'),
      (received) => received.length >= count,
      DEADLINE_MS,
    );

  test.each(Object.keys(WAYS))('%s misses nothing and repeats nothing after interruptions', async (way) => {
    const { publishing, network, publishedAfter } = following;
    const from = await publishing.cursor();
    await publishing.publish('One');
    const page = await openPage(way, from);
    let count = 1;
    await untilReceived(page, count);
    for (const cut of [network.cut, () => network.cutWithin('article.published')]) {
      const failed = page.waitForEvent('requestfailed', { timeout: scaled(DEADLINE_MS) });
      cut();
      await publishing.publish('Cut off');
      await until(network.isCut, Boolean);
      await publishing.publish('Meanwhile');
      await failed;
      network.mend();
      await publishing.publish('Afterwards');
      count += 3;
      await untilReceived(page, count);
    }
    expect(await untilReceived(page, count)).toEqual(await publishedAfter(from));
    await page.close();
  });

  test('event-source.js misses nothing from before its first event', async () => {
    const { publishing, network, publishedAfter } = following;
    const from = await publishing.cursor();
    const page = await openPage('event-source.js', '');
    await page.waitForResponse((response) => response.status() === 202, { timeout: scaled(DEADLINE_MS) });
    network.cut();
    await publishing.publish('Early');
    network.mend();
    await untilReceived(page, 1);
    await publishing.publish('Later');
    expect(await untilReceived(page, 2)).toEqual(await publishedAfter(from));
    await page.close();
  });

  test('an EventSource of another origin cannot authenticate, and is refused', async () => {
    const page = await openPage('none', '');
    const answer = page.waitForResponse(/\/events$/);
    await page.evaluate(`void new EventSource('${following.network.url}/events')`);
    expect((await answer).status()).toBe(401);
    await page.close();
  });
});
