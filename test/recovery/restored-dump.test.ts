import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { expect } from 'vitest';
import { searchDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { PIXEL } from '../../testing/sample-file.ts';
import { until } from '../../testing/until.ts';
import { startInstallation } from '../engines/installation.ts';
import { systemPostgresMissing } from '../engines/system-postgres.ts';
import { askAs, erase, startWriter, titlesOf } from './operated.ts';
import { testOnServer } from './operated-fixture.ts';
import { runBlock } from './page.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

/**
 * A dump is made under writes, a user is erased, the server is lost with its disk, and another one gets the
 * dump.
 */
const SAID = { name: `Erasmus-${randomUUID()}`, email: `${randomUUID()}@example.com` };
const texts = Object.values(SAID);

const test = testOnServer
  .extend('story', { scope: 'file' }, async ({ operated: { settings, environment }, postgres }) => {
    await using first = await startInstallation({ ownProcess: true, settings });
    const asked = await askAs(first);
    const { token } = asked;
    const { body } = await asked.ask('POST', '/users', { token, body: { ...SAID, role: 'author' } });
    const { id: erased } = body as { id: number };
    const writer = startWriter(asked);
    await writer.more(5);
    const before = [...writer.acknowledged];
    const article = `/articles/${before[0]?.id}`;
    const cover = { token, body: PIXEL, type: 'image/png' };
    const { headers: covered } = await asked.ask('PUT', `${article}/cover`, cover);
    const seen = { 'consistency-token': covered.get('consistency-token') ?? '' };
    const shown = await asked.ask('GET', article, { token, headers: seen });
    await runBlock('dump', environment);
    const dumped = writer.acknowledged.length;
    await writer.more(5);
    await erase(asked, erased, environment);
    await writer.end();
    // One may have been in flight when the dump ended.
    const lost = writer.acknowledged.slice(dumped + 1);
    await postgres.destroy();
    await rm(environment.UPLOADS, { recursive: true });
    return { admin: first.admin, before, lost, erased, entityTag: shown.headers.get('etag') ?? '' };
  })
  .extend('restored', { scope: 'file' }, async ({ operated, postgres, story: { admin } }) => {
    await postgres.initialize();
    await postgres.start();
    await postgres.createDatabase();
    const came = (await runBlock('restore-dump', operated.environment)).split('\n');
    const found = (await searchDatabase(postgres.url, texts)).map(({ place }) => place).join();
    return { admin, came, found };
  })
  .extend('installationOptions', { scope: 'file' }, ({ operated: { settings }, restored: { admin } }) => ({
    settings,
    admin,
  }));
test.beforeAll(({ installation: _onTheDump }) => {}, scaled(300_000));

const onDump = test.skipIf(systemPostgresMissing !== undefined);

onDump(
  'what was acknowledged before the dump is there, and nothing of what came after it',
  async ({ asking, story: { before, lost } }) => {
    expect(await titlesOf(asking, before)).toEqual(before.map(({ title }) => title));
    expect(lost.length).toBeGreaterThan(0);
    expect(await titlesOf(asking, lost)).toEqual([]);
  },
);

onDump(
  'who was erased after the dump is erased again before anything runs',
  async ({ asking, restored: { came, found }, story: { erased } }) => {
    expect(came).toContainEqual(expect.stringContaining('1 had come back'));
    expect(found).toBe('');
    await until(
      () => asking.ask('GET', `/users/${erased}`, { token: asking.token }),
      ({ status }) => status === 404,
      30_000,
    );
  },
);

onDump(
  'a cursor of what was lost is refused, also when the log is longer again than it says',
  async ({ asking, story: { lost } }) => {
    const writer = startWriter(asking);
    await writer.more(lost.length + 10);
    await writer.end();
    const after = lost.at(-1)?.cursor ?? '';
    const answer = await asking.ask('GET', `/events?limit=1&after=${after}`, { token: asking.token });
    expect(answer).toMatchObject({ status: 400, body: { code: 'cursor_of_lost_history' } });
    expect(await titlesOf(asking, writer.acknowledged, writer.acknowledged.at(-1)?.cursor)).toHaveLength(
      writer.acknowledged.length,
    );
  },
);

onDump('a picture of before the dump is there', async ({ asking, installation, story: { before } }) => {
  const { body } = await asking.ask('GET', `/articles/${before[0]?.id}`, { token: asking.token });
  const { cover } = body as { cover: string };
  expect(await asking.ask('GET', new URL(cover, installation.url).pathname)).toMatchObject({ status: 200 });
});

onDump('an entity tag of before the dump is still good', async ({ asking, story: { before, entityTag } }) => {
  const headers = { 'if-none-match': entityTag };
  expect(
    (await asking.ask('GET', `/articles/${before[0]?.id}`, { token: asking.token, headers })).status,
  ).toBe(304);
});

onDump(
  'it proves that what is read follows from what was recorded',
  async ({ operated }) => {
    expect(await runBlock('prove', operated.environment)).toMatch(/proven/i);
  },
  120_000,
);
