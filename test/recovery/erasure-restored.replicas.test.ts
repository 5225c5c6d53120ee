import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  hitsIn,
  inDatabase,
  searchDatabase,
  searchFolder,
} from '../../testing/database/search-everywhere.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { restSessionOver } from '../../testing/http/rest-session.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase, type TestDatabase } from '../engines/database.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';

/**
 * A backup is made, a user is deleted, and the backup is restored: the consequences of the deletion happen
 * again.
 */
const resources = new AsyncDisposableStack();
const unmistakable = (what: string) => `${what}-${randomUUID().replaceAll('-', '')}`;
const SAID = {
  name: unmistakable('Erasmus'),
  email: `${unmistakable('adagia')}@example.com`,
  comment: unmistakable('festina'),
};
const texts = Object.values(SAID);
let database: TestDatabase;
let backup: TestDatabase;
let settings: Readonly<Record<string, string>>;
let admin: Installation['admin'];
let erased: number;
let article: number;
let comment: number;
let draft: number;

const tokenOf = async (installation: Installation): Promise<string> => {
  const authorization = `Basic ${Buffer.from(`${admin.clientId}:${encodeURIComponent(admin.secret)}`).toString('base64')}`;
  const asked = {
    body: 'grant_type=client_credentials',
    type: 'application/x-www-form-urlencoded',
    headers: { authorization },
  };
  const { body } = await until(
    () => restClientOf(installation)('POST', '/token', asked),
    ({ status }) => status === 200,
  );
  return (body as { access_token: string }).access_token;
};

const write = async (installation: Installation) => {
  const token = await tokenOf(installation);
  const session = restSessionOver(restClientOf(installation));
  const post = async (path: string, body: object) =>
    (await session.write('POST', path, { token, body })).written.id;
  erased = await post('/users', { name: SAID.name, email: SAID.email, role: 'author' });
  const content = { title: 'Moria', body: '', tags: [], authorId: erased };
  article = await post('/articles', { ...content, publish: true });
  draft = await post('/articles', { ...content, publish: false });
  comment = await post(`/articles/${article}/comments`, { text: SAID.comment, authorId: erased });
  const shown = await session.read(`/articles/${article}/comments`, { token });
  expect(JSON.stringify(shown.body)).toContain(SAID.comment);
};

beforeAll(async () => {
  database = resources.use(await createDatabase());
  const dataDir = resources.use(await temporaryDataDir());
  settings = {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir.path,
    MASTER_KEY: randomBytes(32).toString('base64'),
  };
  {
    await using installation = await startInstallation({ settings });
    admin = installation.admin;
    await write(installation);
  }
  // A template can be copied once nobody is connected to it.
  await until(
    () =>
      inDatabase(database.url.replace(database.name, 'postgres'), (client) =>
        client.query(OTHERS, [database.name]),
      ),
    ({ rows }) => rows.length === 0,
  );
  backup = resources.use(await createDatabase({ template: database.name }));
  await using installation = await startInstallation({ settings, admin });
  const token = await tokenOf(installation);
  await restSessionOver(restClientOf(installation)).write('DELETE', `/users/${erased}`, { token });
  await until(
    () => searchDatabase(database.url, texts),
    (found) => found.length === 0,
    60_000,
  );
  // Only the deletion removes the rows; the list is written before the key is destroyed.
  await until(
    () => readFile(join(dataDir.path, 'audit', 'erasures.jsonl'), 'utf8').catch(() => ''),
    (list) => list.includes(`"userId":${erased}`),
    60_000,
  );
  // Two installations start one after the other.
}, scaled(300_000));
afterAll(() => resources.disposeAsync());

const OTHERS = 'select from pg_stat_activity where datname = $1';

test('none of their data can be read in the restored installation, from its start on', async () => {
  expect((await searchDatabase(backup.url, texts)).map(({ place }) => place)).toContain('read_model.users');
  await using installation = await startInstallation({
    settings: { ...settings, DATABASE_URL: backup.url },
    admin,
  });
  expect(await searchDatabase(backup.url, texts)).toEqual([]);
  const token = await tokenOf(installation);
  const ask = restClientOf(installation);
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
  expect(await searchFolder(settings.DATA_DIR ?? '', texts)).toEqual([]);
  expect(hitsIn('printed', installation.printed(), texts)).toEqual([]);
});

test('their deletion is in the restored log, by the system, because of the list', async () => {
  const { rows } = await inDatabase(backup.url, (client) =>
    client.query(
      `select metadata ->> 'actor' as actor from event_log.event where type = 'user.deleted' and stream = $1`,
      [`user-${erased}`],
    ),
  );
  expect(rows).toEqual([{ actor: 'system:erasure-list' }]);
});
