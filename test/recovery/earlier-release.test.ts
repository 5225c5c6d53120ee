import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inDatabase, searchDatabase } from '../../testing/database/search-everywhere.ts';
import { follow } from '../../testing/http/event-source.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { startWebhookSink, type WebhookSink } from '../../testing/http/webhook-sink.ts';
import { scaled } from '../../testing/load.ts';
import { openPeople, type People, type Person, type TokenHolder } from '../../testing/people.ts';
import { PIXEL } from '../../testing/pixel.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { type Installation, operate, startInstallation } from '../engines/installation.ts';

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

const resources = new AsyncDisposableStack();
let left: Left;
let answers: readonly Answer[];
let installation: Installation;
let ask: RestClient;
let people: People;
let ada: TokenHolder;
let sink: WebhookSink;

beforeAll(async () => {
  [left, answers] = [await read<Left>('installation.json'), await read<readonly Answer[]>('answers.json')];
  const database = resources.use(await createDatabase());
  const dataDir = resources.use(await temporaryDataDir());
  sink = resources.use(await startWebhookSink());
  const dump = await readFile(join(FOLDER, 'database.sql'), 'utf8');
  await inDatabase(database.url, async (client) => {
    await client.query('set standard_conforming_strings = on; set datestyle = iso');
    await client.query(dump);
  });
  for (const folder of ['audit', 'uploads'])
    await cp(join(FOLDER, folder), join(dataDir.path, folder), { recursive: true });
  const settings = { DATABASE_URL: database.url, DATA_DIR: dataDir.path, MASTER_KEY: left.masterKey };
  installation = resources.use(await startInstallation({ settings, admin: left.admin }));
  // A former release did not record its scopes: docs/upgrade.md.
  await operate(
    ['client', 'grant-scopes', left.admin.clientId, '--scope', 'read:schema manage:tokens manage:accounts'],
    installation.settings,
  );
  ask = restClientOf(installation);
  people = await openPeople(installation);
  ada = await people.signInAt(APPLICATION, { email: left.ada.email } as Person);
}, scaled(120_000));
afterAll(() => resources.disposeAsync());

const tokenOf = (by: Answer['by']): string | undefined =>
  ({ administrator: people.administrator.token, ada: ada.token, nobody: undefined })[by];

/** New entries come after the earlier ones. */
const upTo = (before: unknown, now: unknown): unknown =>
  Array.isArray(before) && Array.isArray(now) ? now.slice(0, before.length) : now;

const expectSameAnswers = async (): Promise<void> => {
  for (const { by, path, query, status, body } of answers) {
    const token = tokenOf(by);
    const reply =
      query === undefined
        ? await ask('GET', path, { token })
        : await ask('POST', path, { token, body: { query } });
    expect(reply.status, `${by} ${path}`).toBe(status);
    expect(path.startsWith('/events') ? upTo(body, reply.body) : reply.body, `${by} ${path}`).toMatchObject(
      body as object,
    );
  }
};

test('all answers are the same, also from a read model that is rebuilt meanwhile', async () => {
  await expectSameAnswers();
  const rebuilding = operate(['projection', 'rebuild'], installation.settings);
  await expectSameAnswers();
  await rebuilding;
  await expectSameAnswers();
});

test('a cursor works in a stream', async () => {
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

test('a service and a person can write, and a webhook gets events with the same signature', async () => {
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

test('a picture is there', async () => {
  const picture = await installation.fetch(new URL(left.cover, installation.url).href);
  expect(Buffer.from(await picture.arrayBuffer())).toEqual(PIXEL);
});

test('erased users stay erased, and the chain continues under the earlier heads', async () => {
  expect(await searchDatabase(installation.settings.DATABASE_URL ?? '', left.erased)).toEqual([]);
  const proof = await operate(['audit', 'verify'], installation.settings);
  expect(proof).toMatch(/^Proven, up to position/m);
  expect(proof).toMatch(/ead (?:outside the database was )?signed at \d/);
}, 120_000);
