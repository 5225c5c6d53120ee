import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inDatabase, searchDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import {
  type SystemPostgres,
  startSystemPostgres,
  systemPostgresMissing,
} from '../engines/system-postgres.ts';
import {
  type Asking,
  askAs,
  erase,
  type Operated,
  operate,
  startWriter,
  titlesOf,
  type Written,
} from './operated.ts';
import { runBlock, startBlock } from './page.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

/**
 * The write-ahead log is received continuously, and the server is lost with its disk in the middle of a
 * write.
 */
const resources = new AsyncDisposableStack();
const SAID = { name: `Erasmus-${randomUUID()}`, email: `${randomUUID()}@example.com` };
let operated: Operated;
let postgres: SystemPostgres;
let asking: Asking;
let acknowledged: readonly Written[];
let erased: number;

const loseIt = async (): Promise<Installation['admin']> => {
  const { settings, environment } = operated;
  await runBlock('receive-once', environment);
  await using receiving = startBlock('receive', environment);
  await runBlock('synchronous', environment);
  await untilSynchronous();
  await using first = await startInstallation({ settings });
  const asked = await askAs(first);
  const { body } = await asked.ask('POST', '/users', {
    token: asked.token,
    body: { ...SAID, role: 'author' },
  });
  erased = (body as { id: number }).id;
  const writer = startWriter(asked);
  await writer.more(5);
  await runBlock('base', environment);
  await writer.more(5);
  await erase(asked, erased, environment);
  await writer.more(5);
  await postgres.destroy();
  await writer.end();
  acknowledged = writer.acknowledged;
  await receiving[Symbol.asyncDispose]();
  return first.admin;
};

const untilSynchronous = () =>
  until(
    () =>
      inDatabase(postgres.url, (client) =>
        client.query(`select from pg_stat_replication where sync_state = 'sync'`),
      ),
    ({ rowCount }) => rowCount === 1,
    30_000,
  );

beforeAll(async () => {
  if (systemPostgresMissing !== undefined) return;
  postgres = resources.use(await startSystemPostgres());
  await postgres.start();
  await postgres.createDatabase();
  operated = resources.use(await operate(postgres.url));
  const admin = await loseIt();
  await runBlock('restore-base', { ...operated.environment, PGDATA: postgres.pgdata });
  await postgres.handOver();
  await postgres.start();
  asking = await askAs(resources.use(await startInstallation({ settings: operated.settings, admin })));
}, scaled(300_000));
afterAll(() => resources.disposeAsync());

const restored = test.skipIf(systemPostgresMissing !== undefined);

restored('everything that was acknowledged is there, to the last moment', async () => {
  expect(acknowledged.length).toBeGreaterThanOrEqual(15);
  expect(await titlesOf(asking, acknowledged, acknowledged.at(-1)?.cursor)).toEqual(
    acknowledged.map(({ title }) => title),
  );
});

restored('a cursor of before goes on where it was, with what was written after the restore', async () => {
  const [last] = acknowledged.slice(-2);
  const writer = startWriter(asking);
  await writer.more(3);
  await writer.end();
  const headers = { 'consistency-token': writer.acknowledged.at(-1)?.cursor ?? '' };
  const { body } = await asking.ask(
    'GET',
    `/events?types=article.published&limit=100&after=${last?.cursor}`,
    {
      token: asking.token,
      headers,
    },
  );
  const received = (body as { subject: string }[]).map(({ subject }) => Number(subject.split('-')[1]));
  const expected = [...acknowledged.slice(-1), ...writer.acknowledged].map(({ id }) => id);
  expect(received.filter((id) => expected.includes(id))).toEqual(expected);
});

restored('who was erased stays erased', async () => {
  expect(await searchDatabase(postgres.url, Object.values(SAID))).toEqual([]);
  expect((await asking.ask('GET', `/users/${erased}`, { token: asking.token })).status).toBe(404);
});

restored(
  'it proves that what is read follows from what was recorded, with the heads of before',
  async () => {
    expect(await runBlock('prove', operated.environment)).toMatch(/proven/i);
  },
  120_000,
);
