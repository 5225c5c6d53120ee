import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { createDatabase } from '../engines/database.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { LOG_ENGINES } from '../engines/log-engines.ts';
import {
  type Asking,
  askAs,
  type Operated,
  operate,
  startWriter,
  titlesOf,
  type Written,
} from './operated.ts';
import { STATEMENT } from './page.ts';

/**
 * The read model is dropped under a running installation, which continues to write, and the next start
 * rebuilds it from the log.
 */
describe.each(LOG_ENGINES)('the log in %s', (_name, startLog) => {
  const resources = new AsyncDisposableStack();
  let operated: Operated;
  let settings: Readonly<Record<string, string>>;
  let asking: Asking;
  let written: Written[];
  let listed: unknown;
  let deliveries: number;
  let whileLost: number;

  const LIST = '/articles?limit=100&sort=createdAt';
  const countDeliveries = () =>
    inDatabase(operated.environment.DATABASE_URL, async (client) => {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::integer as count from webhook_ledger.delivery',
      );
      return rows[0]?.count ?? 0;
    });

  const loseIt = async (): Promise<Installation['admin']> => {
    await using first = await startInstallation({ ownProcess: true, settings });
    const asked = await askAs(first);
    const webhook = { url: 'http://127.0.0.1:9/nobody-is-there', eventTypes: ['article.published'] };
    expect((await asked.ask('POST', '/webhooks', { token: asked.token, body: webhook })).status).toBe(201);
    const writer = startWriter(asked);
    await writer.more(10);
    await writer.end();
    written = [...writer.acknowledged];
    const headers = { 'consistency-token': written.at(-1)?.cursor ?? '' };
    listed = (await asked.ask('GET', LIST, { token: asked.token, headers })).body;
    deliveries = await until(countDeliveries, (count) => count === written.length);
    await inDatabase(operated.environment.DATABASE_URL, (client) => client.query(STATEMENT));
    whileLost = (await asked.ask('GET', LIST, { token: asked.token })).status;
    const late = startWriter(asked);
    await late.more(1);
    await late.end();
    written.push(...late.acknowledged);
    return first.admin;
  };

  beforeAll(async () => {
    const database = resources.use(await createDatabase());
    const log = resources.use(await startLog());
    operated = resources.use(await operate(database.url));
    settings = { ...operated.settings, ...(log.url !== undefined && { EVENT_LOG_URL: log.url }) };
    const admin = await loseIt();
    asking = await askAs(resources.use(await startInstallation({ ownProcess: true, settings, admin })));
  }, scaled(300_000));
  afterAll(() => resources.disposeAsync());

  test('reads fail meanwhile, and writes are recorded', async () => {
    expect(whileLost).toBeGreaterThanOrEqual(500);
    expect(await titlesOf(asking, written, written.at(-1)?.cursor)).toEqual(
      written.map(({ title }) => title),
    );
  });

  test('reads afterwards give the same as before', async () => {
    const { body } = await asking.ask('GET', LIST, { token: asking.token });
    const before = listed as { id: number; version: number; title: string }[];
    const facts = (items: typeof before) => items.map(({ id, version, title }) => ({ id, version, title }));
    expect(facts(body as typeof before).slice(0, before.length)).toEqual(facts(before));
  });

  test('an earlier cursor works', async () => {
    const after = written.at(-2)?.cursor;
    const { body } = await asking.ask('GET', `/events?types=article.published&after=${after}`, {
      token: asking.token,
    });
    expect(body).toMatchObject([{ subject: `article-${written.at(-1)?.id}` }]);
  });

  test('webhooks get new events, and none twice', async () => {
    const news = written.length - deliveries;
    await until(countDeliveries, (count) => count >= deliveries + news);
    expect(await countDeliveries()).toBe(deliveries + news);
  });

  test(
    'the read model is proven',
    async () => {
      const verified = await callLine(settings, ['audit', 'verify']);
      expect(verified, verified.lines.join('\n')).toMatchObject({ exit: 0 });
    },
    scaled(120_000),
  );
});
