import { afterAll, beforeAll, expect, test } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { createDatabase } from '../engines/database.ts';
import { startInstallation } from '../engines/installation.ts';
import { startSystemPostgres, systemPostgresMissing } from '../engines/system-postgres.ts';
import {
  type Asking,
  askAs,
  type Operated,
  operate,
  startWriter,
  titlesOf,
  type Written,
} from './operated.ts';
import { runBlock } from './page.ts';

/**
 * With everything stopped, a dump of one server is restored on another, with another version: nothing is
 * lost, so nothing is renewed.
 */
const resources = new AsyncDisposableStack();
let written: readonly Written[];
let operated: Operated;
let databaseUrl: string;
let asking: Asking;

beforeAll(async () => {
  if (systemPostgresMissing !== undefined) return;
  const former = resources.use(await startSystemPostgres());
  await former.start();
  await former.createDatabase();
  operated = resources.use(await operate(former.url));
  const { settings, environment } = operated;
  const first = await startInstallation({ settings });
  const writer = startWriter(await askAs(first));
  await writer.more(5);
  await writer.end();
  written = writer.acknowledged;
  await first[Symbol.asyncDispose]();
  await runBlock('dump', environment);
  databaseUrl = resources.use(await createDatabase()).url;
  await runBlock('move', { ...environment, DATABASE_URL: databaseUrl });
  await former.destroy();
  const moved = { ...settings, DATABASE_URL: databaseUrl };
  asking = await askAs(resources.use(await startInstallation({ settings: moved, admin: first.admin })));
}, scaled(300_000));
afterAll(() => resources.disposeAsync());

const onAnother = test.skipIf(systemPostgresMissing !== undefined);

onAnother('everything is there, and cursors of before are good', async () => {
  expect(await titlesOf(asking, written, written.at(-1)?.cursor)).toEqual(written.map(({ title }) => title));
  const { body } = await asking.ask(
    'GET',
    `/events?types=article.published&after=${written.at(-2)?.cursor}`,
    { token: asking.token },
  );
  expect(body).toMatchObject([{ subject: `article-${written.at(-1)?.id}` }]);
});

onAnother(
  'it proves the log, with the heads of before',
  async () => {
    expect(await runBlock('prove', { ...operated.environment, DATABASE_URL: databaseUrl })).toMatch(
      /\bproven\b/i,
    );
  },
  120_000,
);
