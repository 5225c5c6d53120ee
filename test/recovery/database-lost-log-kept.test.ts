import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { runAnnals } from '../annals-process.ts';
import { callLine } from '../engines/call-line.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { startInstallation } from '../engines/installation.ts';
import { type Asking, askAs, backUp, startWriter, titlesOf, type Written } from './operated.ts';
import { test as base } from './operated-fixture.ts';
import { runBlock } from './page.ts';

/** The log is in EventStoreDB and went on; the database is restored to an earlier time. */
const write = async (asked: Asking): Promise<readonly Written[]> => {
  const writer = startWriter(asked);
  await writer.more(5);
  await writer.end();
  return writer.acknowledged;
};

const registerLate = async ({ ask, token }: Asking) => {
  const post = async (path: string, body: object) =>
    ((await ask('POST', path, { token, body })).body as { id: number }).id;
  const late = await post('/users', { name: 'Late', email: `${randomUUID()}@example.com`, role: 'author' });
  const article = { title: 'By someone late', body: '', tags: [], publish: true, authorId: late };
  return { late, ofLate: await post('/articles', article) };
};

const test = base
  .extend('eventStore', { scope: 'file' }, async ({ database: _beside }, { onCleanup }) => {
    const eventStore = await startEventStoreStandIn();
    onCleanup(() => eventStore[Symbol.asyncDispose]());
    return eventStore;
  })
  .extend('given', { scope: 'file' }, ({ eventStore, operated }) => ({
    ...operated.settings,
    EVENT_LOG_URL: eventStore.address,
  }))
  .extend('first', { scope: 'file' }, async ({ given }) => {
    await using installation = await startInstallation({ ownProcess: true, settings: given });
    return { admin: installation.admin, before: await write(await askAs(installation)) };
  })
  .extend('backup', { scope: 'file' }, async ({ database, first: _before }, { onCleanup }) => {
    const backup = await backUp(database);
    onCleanup(() => backup[Symbol.asyncDispose]());
    return backup;
  })
  .extend('lost', { scope: 'file' }, async ({ backup, first: { admin, before }, given }) => {
    await using second = await startInstallation({ ownProcess: true, settings: given, admin });
    const asked = await askAs(second);
    const registered = await registerLate(asked);
    const since = await write(asked);
    const settings = { ...given, DATABASE_URL: backup.url };
    return { ...registered, admin, settings, since, all: [...before, ...since] };
  });
test.beforeAll(({ lost: _restored }) => {}, scaled(300_000));

test('writes since the backup are there, and cursors are valid', async ({
  lost: { settings, admin, since, all },
}) => {
  await using installation = await startInstallation({ ownProcess: true, settings, admin });
  const asking = await askAs(installation);
  expect(await titlesOf(asking, all, since.at(-1)?.cursor)).toEqual(all.map(({ title }) => title));
  const page = `/events?types=article.published&after=${since.at(-2)?.cursor}`;
  const { body } = await asking.ask('GET', page, { token: asking.token });
  expect(body).toMatchObject([{ subject: `article-${since.at(-1)?.id}` }]);
});

test('users registered since have lost their key: they are parked, and nothing else is', async ({
  lost: { settings, admin, late },
}) => {
  await using installation = await startInstallation({ ownProcess: true, settings, admin });
  const { ask, token } = await askAs(installation);
  expect(await ask('GET', `/users/${late}`, { token })).toMatchObject({
    status: 503,
    body: { code: 'parked' },
  });
  const parked = await callLine(settings, ['projection', 'parked']);
  expect(parked.lines.join('\n')).toContain(`user-${late}`);
  expect(parked.lines.join('\n')).not.toContain('article-');
});

test(
  'once they are erased, all consequences follow',
  async ({ lost: { settings, admin, late, ofLate } }) => {
    expect(await callLine(settings, ['erasure', 'lost-keys'])).toMatchObject({
      exit: 0,
      lines: [`user ${late}`],
    });
    await runBlock('lost-keys', settings);
    await using installation = await startInstallation({ ownProcess: true, settings, admin });
    const { ask, token } = await askAs(installation);
    await until(
      () => ask('GET', `/users/${late}`, { token }),
      ({ status }) => status === 404,
      60_000,
    );
    const { status } = await ask('GET', `/articles/${ofLate}`, { token });
    expect(status).toBe(200);
    const verified = await callLine(settings, ['audit', 'verify']);
    expect(verified, verified.lines.join('\n')).toMatchObject({ exit: 0 });
  },
  scaled(180_000),
);

test('the log cannot be renewed in EventStoreDB, and the command names the alternative', async ({
  lost: { settings },
}) => {
  const renewed = await callLine(settings, ['log', 'renew']);
  expect(renewed.exit).not.toBe(0);
  expect(renewed.complaint).toContain('log copy --switch');
});

test(
  'a new database on a log with persons is refused before anything is projected, until it takes over the log',
  async ({ lost: { settings, since, all } }) => {
    await using empty = await createDatabase();
    await using folder = await temporaryDataDir();
    const given = { ...settings, DATABASE_URL: empty.url, AUDIT_DIR: folder.path };
    for (const role of ['main.ts', 'projector/main.ts', 'query/main.ts'])
      expect(await runAnnals([role], { ...given, DATA_DIR: folder.path })).toEqual({
        exit: 1,
        output: expect.stringMatching(
          /^The event log .+ belongs to another installation: .+`.+lost-keys --erase --log \S+`.+\n$/,
        ),
      });
    const { rows } = await inDatabase(empty.url, (client) =>
      client.query(`select to_regnamespace('read_model') as "readModel"`),
    );
    expect(rows).toEqual([{ readModel: null }]);
    const { complaint } = await callLine(given, ['erasure', 'lost-keys', '--erase']);
    const [, identity = ''] = /--erase --log (\S+)`/.exec(complaint) ?? [];
    const erased = await callLine(given, ['erasure', 'lost-keys', '--erase', '--log', identity]);
    expect(erased, erased.complaint).toMatchObject({ exit: 0 });
    // The log maps the id of a client to its user, and that one is erased.
    const args = ['--id', 'another', '--service', '--role', 'admin', '--scope', 'read:articles'];
    const created = await callLine(given, ['client', 'create', 'Another', ...args]);
    const { secret } = JSON.parse(created.lines.join('\n')) as { secret: string };
    await using installation = await startInstallation({
      ownProcess: true,
      settings: given,
      admin: { clientId: 'another', secret },
    });
    expect(await titlesOf(await askAs(installation), all, since.at(-1)?.cursor)).toEqual(
      all.map(({ title }) => title),
    );
    expect((await callLine(given, ['projection', 'parked'])).lines.join()).not.toContain('user-');
    expect(await callLine(given, ['erasure', 'lost-keys'])).toMatchObject({
      exit: 0,
      lines: [expect.stringContaining('every person')],
    });
  },
  scaled(180_000),
);
