import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { inDatabase, searchDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { startInstallation } from '../engines/installation.ts';
import { systemPostgresMissing } from '../engines/system-postgres.ts';
import { askAs, erase, startWriter, titlesOf } from './operated.ts';
import { testOnServer } from './operated-fixture.ts';
import { runBlock, startBlock } from './page.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

/**
 * The write-ahead log is received continuously, and the server is lost with its disk in the middle of a
 * write.
 */
const SAID = { name: `Erasmus-${randomUUID()}`, email: `${randomUUID()}@example.com` };

const untilSynchronous = (url: string) =>
  until(
    () =>
      inDatabase(url, (client) => client.query(`select from pg_stat_replication where sync_state = 'sync'`)),
    ({ rowCount }) => rowCount === 1,
    30_000,
  );

const test = testOnServer
  .extend('story', { scope: 'file' }, async ({ operated: { settings, environment }, postgres }) => {
    await runBlock('receive-once', environment);
    await using _receiving = startBlock('receive', environment);
    await runBlock('synchronous', environment);
    await untilSynchronous(postgres.url);
    await using first = await startInstallation({ ownProcess: true, settings });
    const asked = await askAs(first);
    const person = { ...SAID, role: 'author' };
    const { body } = await asked.ask('POST', '/users', { token: asked.token, body: person });
    const { id: erased } = body as { id: number };
    const writer = startWriter(asked);
    await writer.more(5);
    await runBlock('base', environment);
    await writer.more(5);
    await erase(asked, erased, environment);
    await writer.more(5);
    await postgres.destroy();
    await writer.end();
    return { admin: first.admin, acknowledged: writer.acknowledged, erased };
  })
  .extend(
    'restored',
    { scope: 'file' },
    async ({ operated: { environment }, postgres, story: { admin } }) => {
      await runBlock('restore-base', { ...environment, PGDATA: postgres.pgdata });
      await postgres.handOver();
      await postgres.start();
      await runBlock('accept-server', environment);
      return { admin };
    },
  )
  .extend('installationOptions', { scope: 'file' }, ({ operated: { settings }, restored: { admin } }) => ({
    settings,
    admin,
  }));
test.beforeAll(({ installation: _restored }) => {}, scaled(300_000));

const onRestored = test.skipIf(systemPostgresMissing !== undefined);

onRestored(
  'everything that was acknowledged is there, to the last moment',
  async ({ asking, story: { acknowledged } }) => {
    expect(acknowledged.length).toBeGreaterThanOrEqual(15);
    expect(await titlesOf(asking, acknowledged, acknowledged.at(-1)?.cursor)).toEqual(
      acknowledged.map(({ title }) => title),
    );
  },
);

onRestored(
  'a cursor of before goes on where it was, with what was written after the restore',
  async ({ asking, story: { acknowledged } }) => {
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
  },
);

onRestored('who was erased stays erased', async ({ asking, postgres, story: { erased } }) => {
  expect(await searchDatabase(postgres.url, Object.values(SAID))).toEqual([]);
  expect((await asking.ask('GET', `/users/${erased}`, { token: asking.token })).status).toBe(404);
});

onRestored(
  'it proves that what is read follows from what was recorded, with the heads of before',
  async ({ operated }) => {
    expect(await runBlock('prove', operated.environment)).toMatch(/proven/i);
  },
  120_000,
);
