import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect } from 'vitest';
import { inDatabase, searchDatabase } from '../../testing/database/search-everywhere.ts';
import { follow } from '../../testing/http/event-source.ts';
import { openPeople, type Person } from '../../testing/http/people.ts';
import { PIXEL } from '../../testing/sample-file.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type Installation, operate } from '../engines/installation.ts';
import { test as base } from './operated-fixture.ts';

/**
 * An installation of release 6c97dec with real use, as a dump and the files beside it, and its recorded
 * answers. This release starts on it. The queue of jobs (schema `bullmq`) is omitted: it is rebuilt from the
 * ledger. The files never change.
 */
type Left = {
  readonly masterKey: string;
  readonly admin: Installation['admin'];
  readonly robot: Installation['admin'];
  readonly ada: { readonly email: string };
  readonly erased: readonly string[];
  readonly webhook: { readonly path: string; readonly secret: string };
  readonly cursor: string;
  readonly cover: string;
};
type Answer = {
  readonly by: 'administrator' | 'ada' | 'nobody';
  readonly path: string;
  readonly query?: string;
  readonly status: number;
  readonly body: unknown;
};

const FOLDER = join(import.meta.dirname, '../fixtures/earlier-release');
const read = async <Content>(file: string): Promise<Content> =>
  JSON.parse(await readFile(join(FOLDER, file), 'utf8')) as Content;
const APPLICATION = { clientId: 'journal-app', redirectUri: 'https://app.example/callback' };

/** New entries come after the earlier ones. */
const upTo = (before: unknown, now: unknown): unknown =>
  Array.isArray(before) && Array.isArray(now) ? now.slice(0, before.length) : now;

const test = base
  .extend('left', { scope: 'file' }, () => read<Left>('installation.json'))
  .extend('answers', { scope: 'file' }, () => read<readonly Answer[]>('answers.json'))
  .extend('dataDir', { scope: 'file' }, async ({ left: _files }, { onCleanup }) => {
    const dataDir = await temporaryDataDir();
    onCleanup(() => dataDir[Symbol.asyncDispose]());
    for (const folder of ['audit', 'uploads'])
      await cp(join(FOLDER, folder), join(dataDir.path, folder), { recursive: true });
    return dataDir.path;
  })
  .extend('installationOptions', { scope: 'file' }, async ({ database, dataDir, left }) => {
    const dump = await readFile(join(FOLDER, 'database.sql'), 'utf8');
    await inDatabase(database.url, async (client) => {
      await client.query('set standard_conforming_strings = on; set datestyle = iso');
      await client.query(dump);
    });
    const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir, MASTER_KEY: left.masterKey };
    return { settings, admin: left.admin };
  })
  .extend('people', { scope: 'file' }, async ({ installation, left }) => {
    // A former release did not record its scopes: docs/upgrade.md.
    await operate(
      ['client', 'grant-scopes', left.admin.clientId, '--scope', 'read:schema manage:tokens manage:accounts'],
      installation.settings,
    );
    return openPeople(installation);
  })
  .extend('ada', { scope: 'file' }, ({ left, people }) =>
    people.signInAt(APPLICATION, { email: left.ada.email } as Person),
  )
  .extend('expectSameAnswers', { scope: 'file' }, ({ ada, answers, ask, people }) => {
    const tokens = { administrator: people.administrator.token, ada: ada.token, nobody: undefined };
    return async () => {
      for (const { by, path, query, status, body } of answers) {
        const token = tokens[by];
        const reply =
          query === undefined
            ? await ask('GET', path, { token })
            : await ask('POST', path, { token, body: { query } });
        expect(reply.status, `${by} ${path}`).toBe(status);
        const shown = path.startsWith('/events') ? upTo(body, reply.body) : reply.body;
        expect(shown, `${by} ${path}`).toMatchObject(body as object);
      }
    };
  });

test('all answers are the same, also from a read model that is rebuilt meanwhile', async ({
  expectSameAnswers,
  installation,
}) => {
  await expectSameAnswers();
  const rebuilding = operate(['projection', 'rebuild'], installation.settings);
  await expectSameAnswers();
  await rebuilding;
  await expectSameAnswers();
});

test('a cursor works in a stream', async ({ answers, installation, left, people }) => {
  const [before] = answers.filter(({ by, path }) => by === 'administrator' && path.startsWith('/events'));
  const headers = { authorization: `Bearer ${people.administrator.token}` };
  await using stream = await follow(`${installation.url}/events?after=${left.cursor}`, {
    headers,
    fetch: installation.fetch,
  });
  const cursorsOf = (events: unknown) =>
    (events as readonly { cursor: string }[]).map(({ cursor }) => cursor);
  const expected = cursorsOf(before?.body);
  expect(expected.length).toBeGreaterThan(0);
  expect(cursorsOf(await stream.data(expected.length)).slice(0, expected.length)).toEqual(expected);
});

test('a service and a person can write, and a webhook gets events with the same signature', async ({
  ada,
  ask,
  left,
  people,
  sink,
}) => {
  const { token } = people.administrator;
  const moved = await ask('PATCH', left.webhook.path, { token, body: { url: `${sink.url}/shop` } });
  expect(moved.status, JSON.stringify(moved.body)).toBe(200);
  const robot = await people.tokenOf(left.robot);
  const { body } = await ask('POST', '/articles', {
    token: robot.token,
    body: { title: 'Afterwards', body: '', tags: [], publish: true },
  });
  const { id } = body as { id: number };
  const commented = await ask('POST', `/articles/${id}/comments`, {
    token: ada.token,
    body: { text: 'Still here' },
  });
  expect(commented.status).toBe(201);
  const received = await until(
    () => sink.received.find((each) => each.body.includes(`article-${id}`)),
    (found) => found !== undefined,
    60_000,
  );
  const verify = () =>
    new Webhook(left.webhook.secret).verify(
      received?.body ?? '',
      received?.headers as Record<string, string>,
    );
  expect(verify()).toMatchObject({ type: 'article.drafted' });
});

test('a picture is there', async ({ installation, left }) => {
  const picture = await installation.fetch(new URL(left.cover, installation.url).href);
  expect(Buffer.from(await picture.arrayBuffer())).toEqual(PIXEL);
});

test('erased users stay erased, and the chain continues under the earlier heads', async ({
  installation,
  left,
}) => {
  expect(await searchDatabase(installation.settings.DATABASE_URL ?? '', left.erased)).toEqual([]);
  const proof = await operate(['audit', 'verify'], installation.settings);
  expect(proof).toMatch(/^Proven, up to position/m);
  expect(proof).toMatch(/ead (?:outside the database was )?signed at \d/);
}, 120_000);
