import { expect } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { startInstallation } from '../engines/installation.ts';
import { systemPostgresMissing } from '../engines/system-postgres.ts';
import { askAs, startWriter, titlesOf } from './operated.ts';
import { testOnServer } from './operated-fixture.ts';
import { runBlock } from './page.ts';

/**
 * With everything stopped, a dump of one server is restored on another, with another version: nothing is
 * lost, so nothing is renewed.
 */
const test = testOnServer
  .extend('moved', { scope: 'file' }, async ({ database, operated: { settings, environment }, postgres }) => {
    const first = await startInstallation({ ownProcess: true, settings });
    const writer = startWriter(await askAs(first));
    await writer.more(5);
    await writer.end();
    await first.query[0]?.kill('SIGTERM');
    await first[Symbol.asyncDispose]();
    await runBlock('dump', environment);
    const DATABASE_URL = database.url;
    await runBlock('move', { ...environment, DATABASE_URL });
    await postgres.destroy();
    return { admin: first.admin, settings: { ...settings, DATABASE_URL }, written: writer.acknowledged };
  })
  .extend('installationOptions', { scope: 'file' }, ({ moved: { admin, settings } }) => ({
    admin,
    settings,
  }));
test.beforeAll(({ installation: _onAnother }) => {}, scaled(300_000));

const onAnother = test.skipIf(systemPostgresMissing !== undefined);

onAnother('everything is there, and cursors of before are good', async ({ asking, moved: { written } }) => {
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
  async ({ database, operated }) => {
    expect(await runBlock('prove', { ...operated.environment, DATABASE_URL: database.url })).toMatch(
      /\bproven\b/i,
    );
  },
  120_000,
);
