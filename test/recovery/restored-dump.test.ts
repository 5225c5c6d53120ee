import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { searchDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { PIXEL } from '../../testing/pixel.ts';
import { until } from '../../testing/until.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { startSystemPostgres, systemPostgresMissing } from '../engines/system-postgres.ts';
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
import { runBlock } from './page.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

/**
 * A dump is made under writes, a user is erased, the server is lost with its disk, and another one gets the
 * dump.
 */
const resources = new AsyncDisposableStack();
const SAID = { name: `Erasmus-${randomUUID()}`, email: `${randomUUID()}@example.com` };
const texts = Object.values(SAID);
let operated: Operated;
let installation: Installation;
let asking: Asking;
let before: readonly Written[];
let lost: readonly Written[];
let erased: number;
let entityTag: string;
let came: readonly string[];
let found: string;

const loseIt = async (
  postgres: Awaited<ReturnType<typeof startSystemPostgres>>,
): Promise<Installation['admin']> => {
  const { settings, environment } = operated;
  await using first = await startInstallation({ settings });
  const asked = await askAs(first);
  const { body } = await asked.ask('POST', '/users', {
    token: asked.token,
    body: { ...SAID, role: 'author' },
  });
  erased = (body as { id: number }).id;
  const writer = startWriter(asked);
  await writer.more(5);
  before = [...writer.acknowledged];
  const cover = { token: asked.token, body: PIXEL, type: 'image/png' };
  const { headers: covered } = await asked.ask('PUT', `/articles/${before[0]?.id}/cover`, cover);
  const seen = { 'consistency-token': covered.get('consistency-token') ?? '' };
  entityTag =
    (await asked.ask('GET', `/articles/${before[0]?.id}`, { token: asked.token, headers: seen })).headers.get(
      'etag',
    ) ?? '';
  await runBlock('dump', environment);
  const dumped = writer.acknowledged.length;
  await writer.more(5);
  await erase(asked, erased, environment);
  await writer.end();
  // One may have been in flight when the dump ended.
  lost = writer.acknowledged.slice(dumped + 1);
  await postgres.destroy();
  await rm(environment.UPLOADS, { recursive: true });
  return first.admin;
};

beforeAll(async () => {
  if (systemPostgresMissing !== undefined) return;
  const postgres = resources.use(await startSystemPostgres());
  await postgres.start();
  operated = resources.use(await operate(postgres.url));
  await postgres.createDatabase();
  const admin = await loseIt(postgres);
  await postgres.initialize();
  await postgres.start();
  await postgres.createDatabase();
  came = (await runBlock('restore-dump', operated.environment)).split('\n');
  found = (await searchDatabase(postgres.url, texts)).map(({ place }) => place).join();
  installation = resources.use(await startInstallation({ settings: operated.settings, admin }));
  asking = await askAs(installation);
}, scaled(300_000));
afterAll(() => resources.disposeAsync());

const restored = test.skipIf(systemPostgresMissing !== undefined);

restored('what was acknowledged before the dump is there, and nothing of what came after it', async () => {
  expect(await titlesOf(asking, before)).toEqual(before.map(({ title }) => title));
  expect(lost.length).toBeGreaterThan(0);
  expect(await titlesOf(asking, lost)).toEqual([]);
});

restored('who was erased after the dump is erased again before anything runs', async () => {
  expect(came).toContainEqual(expect.stringContaining('1 had come back'));
  expect(found).toBe('');
  await until(
    () => asking.ask('GET', `/users/${erased}`, { token: asking.token }),
    ({ status }) => status === 404,
    30_000,
  );
});

restored('a cursor of what was lost is refused, also when the log is longer again than it says', async () => {
  const writer = startWriter(asking);
  await writer.more(lost.length + 10);
  await writer.end();
  const after = lost.at(-1)?.cursor ?? '';
  const answer = await asking.ask('GET', `/events?limit=1&after=${after}`, { token: asking.token });
  expect(answer).toMatchObject({ status: 400, body: { code: 'cursor_of_lost_history' } });
  expect(await titlesOf(asking, writer.acknowledged, writer.acknowledged.at(-1)?.cursor)).toHaveLength(
    writer.acknowledged.length,
  );
});

restored('a picture of before the dump is there', async () => {
  const { body } = await asking.ask('GET', `/articles/${before[0]?.id}`, { token: asking.token });
  const { cover } = body as { cover: string };
  expect(await asking.ask('GET', new URL(cover, installation.url).pathname)).toMatchObject({ status: 200 });
});

restored('an entity tag of before the dump is still good', async () => {
  const headers = { 'if-none-match': entityTag };
  expect(
    (await asking.ask('GET', `/articles/${before[0]?.id}`, { token: asking.token, headers })).status,
  ).toBe(304);
});

restored(
  'it proves that what is read follows from what was recorded',
  async () => {
    expect(await runBlock('prove', operated.environment)).toMatch(/proven/i);
  },
  120_000,
);
