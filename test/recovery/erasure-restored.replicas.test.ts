import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  hitsIn,
  inDatabase,
  searchDatabase,
  searchFolder,
} from '../../testing/database/search-everywhere.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';
import { askAs, backUp } from './operated.ts';
import { test as base } from './operated-fixture.ts';

/**
 * A backup is made, a user is deleted, and the backup is restored: the consequences of the deletion happen
 * again.
 */
const unmistakable = (what: string) => `${what}-${randomUUID().replaceAll('-', '')}`;
const SAID = {
  name: unmistakable('Erasmus'),
  email: `${unmistakable('adagia')}@example.com`,
  comment: unmistakable('festina'),
};
const texts = Object.values(SAID);

/** An author with an article, a draft and a comment. */
const write = async (installation: Installation) => {
  const { ask, token } = await askAs(installation);
  const session = restSessionOver(ask);
  const post = async (path: string, body: object) =>
    (await session.write('POST', path, { token, body })).written.id;
  const erased = await post('/users', { name: SAID.name, email: SAID.email, role: 'author' });
  const content = { title: 'Moria', body: '', tags: [], authorId: erased };
  const article = await post('/articles', { ...content, publish: true });
  const draft = await post('/articles', { ...content, publish: false });
  const comment = await post(`/articles/${article}/comments`, { text: SAID.comment, authorId: erased });
  const shown = await session.read(`/articles/${article}/comments`, { token });
  expect(JSON.stringify(shown.body)).toContain(SAID.comment);
  return { erased, article, draft, comment };
};

const test = base
  .extend('settings', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const dataDir = await temporaryDataDir();
    onCleanup(() => dataDir[Symbol.asyncDispose]());
    const MASTER_KEY = randomBytes(32).toString('base64');
    return { DATABASE_URL: database.url, DATA_DIR: dataDir.path, MASTER_KEY };
  })
  .extend('written', { scope: 'file' }, async ({ settings }) => {
    await using installation = await startInstallation({ ownProcess: true, settings });
    return { admin: installation.admin, ...(await write(installation)) };
  })
  .extend('backup', { scope: 'file' }, async ({ database, written: _before }, { onCleanup }) => {
    const backup = await backUp(database);
    onCleanup(() => backup[Symbol.asyncDispose]());
    return backup;
  });

// Two installations start one after the other.
test.beforeAll(async ({ backup: _before, database, settings, written: { admin, erased } }) => {
  await using installation = await startInstallation({ ownProcess: true, settings, admin });
  const { ask, token } = await askAs(installation);
  await restSessionOver(ask).write('DELETE', `/users/${erased}`, { token });
  await until(
    () => searchDatabase(database.url, texts),
    (found) => found.length === 0,
    60_000,
  );
  // Only the deletion removes the rows; the list is written before the key is destroyed.
  await until(
    () => readFile(join(settings.DATA_DIR, 'audit', 'erasures.jsonl'), 'utf8').catch(() => ''),
    (list) => list.includes(`"userId":${erased}`),
    60_000,
  );
}, scaled(300_000));

test('none of their data can be read in the restored installation, from its start on', async ({
  backup,
  settings,
  written: { admin, erased, article, comment, draft },
}) => {
  expect((await searchDatabase(backup.url, texts)).map(({ place }) => place)).toContain('read_model.users');
  const restored = { ...settings, DATABASE_URL: backup.url };
  // docs/backup.md: the log lacks events that AUDIT_DIR knows.
  expect(await operate(['log', 'renew'], restored)).toContain('is now the log');
  await using installation = await startInstallation({ ownProcess: true, settings: restored, admin });
  expect(await searchDatabase(backup.url, texts)).toEqual([]);
  const { ask, token } = await askAs(installation);
  // All consequences of a deletion happen.
  await until(
    () => ask('GET', `/articles/${draft}`, { token }),
    ({ status }) => status === 404,
    30_000,
  );
  expect((await ask('GET', `/users/${erased}`, { token })).status).toBe(404);
  const paths = [
    ...[
      '/users',
      `/articles/${article}`,
      `/articles/${article}/comments`,
      `/comments/${comment}`,
      '/events?limit=100',
    ],
    ...[
      `/articles/${article}/history`,
      `/comments/${comment}/history`,
      `/users/${erased}/history`,
      `/comments/${comment}?at=v1`,
    ],
  ];
  for (const path of paths)
    expect(hitsIn(path, JSON.stringify((await ask('GET', path, { token })).body), texts)).toEqual([]);
  const { data } = await graphqlClientOf(installation)(
    '{ posts { author { name } comments { text author { name } } } }',
    { token },
  );
  expect(data).toEqual({
    posts: [
      {
        author: { name: 'Deleted user' },
        comments: [{ text: '[deleted]', author: { name: 'Deleted user' } }],
      },
    ],
  });
  const { body } = await ask('GET', '/events?types=user.deleted', { token });
  expect(body).toMatchObject([{ type: 'user.deleted', subject: `user-${erased}` }]);
  expect(await searchDatabase(backup.url, texts)).toEqual([]);
  expect(await searchFolder(settings.DATA_DIR, texts)).toEqual([]);
  expect(hitsIn('printed', installation.printed(), texts)).toEqual([]);
});

test('their deletion is in the restored log, by the system, because of the list', async ({
  backup,
  written: { erased },
}) => {
  const { rows } = await inDatabase(backup.url, (client) =>
    client.query(
      `select metadata ->> 'actor' as actor from event_log.event where type = 'user.deleted' and stream = $1`,
      [`user-${erased}`],
    ),
  );
  expect(rows).toEqual([{ actor: 'system:erasure-list' }]);
});
