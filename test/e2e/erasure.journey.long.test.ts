// Over 200 lines, because it is one story: a user’s data is written everywhere, found, erased and searched
// for again.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import {
  hitsIn,
  inDatabase,
  searchDatabase,
  searchFolder,
} from '../../testing/database/search-everywhere.ts';
import type { Behaviour } from '../../testing/http/webhook-sink.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { operate } from '../engines/installation.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { readTopic } from '../engines/read-topic.ts';

/** Searches all storage for a user's data before and after their deletion. */
let ids: { readonly article: number; readonly comment: number };

const unmistakable = (what: string) => `${what}-${randomUUID().replaceAll('-', '')}`;
const SAID = {
  name: unmistakable('Erasmus'),
  laterName: unmistakable('Desiderius'),
  laterEmail: `${unmistakable('adagia')}@example.com`,
  comment: unmistakable('festina'),
  laterComment: unmistakable('lente'),
  path: unmistakable('hook'),
  host: unmistakable('host').slice(0, 40),
  description: unmistakable('colloquia'),
  header: unmistakable('token'),
  headerName: unmistakable('X-Folly'),
} as const;

const test = base
  .extend('installationOptions', { scope: 'file' }, () => ({
    settings: { WEBHOOK_RETRY_SCHEDULE: '0.1', LOG_LEVEL: 'debug' },
  }))
  .extend('erasmus', { scope: 'file' }, ({ people }) => people.signUp(SAID.name))
  .extend('texts', { scope: 'file' }, ({ erasmus }) => [...Object.values(SAID), erasmus.email])
  .extend('as', { scope: 'file' }, ({ session }) => (token: string) => ({
    write: (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
      session.write(method, path, {
        token,
        headers,
        ...(body && { body }),
        ...(method === 'PATCH' && { type: 'application/merge-patch+json' }),
      }),
  }))
  .extend('annals', { scope: 'file' }, ({ installation }) => (...args: readonly string[]) => {
    return operate(args, installation.settings);
  })
  .extend('search', { scope: 'file' }, ({ installation, texts }) => async () => {
    const { DATABASE_URL, DATA_DIR } = installation.settings;
    return [
      ...(await searchDatabase(DATABASE_URL ?? '', texts)),
      ...(await searchFolder(DATA_DIR ?? '', texts)),
    ];
  });

/** Receivers may repeat the event. */
const repeat: Behaviour = ({ path, body }, response) =>
  void response
    .writeHead(path.includes('fails') ? 500 : 200, { 'x-echo': encodeURIComponent(body).slice(0, 4_000) })
    .end(body);

test("a user's data is in many places", async ({
  annals,
  as,
  erasmus,
  graphql,
  installation,
  people,
  search,
  sink,
}) => {
  sink.behave(repeat);
  const { write } = as(erasmus.token);
  const { write: administer } = as(people.administrator.token);
  await administer('POST', '/webhooks', { url: `${sink.url}/all`, eventTypes: ['*'], payload: 'full' });
  await administer('POST', '/webhooks', { url: `${sink.url}/fails`, eventTypes: ['*'], payload: 'full' });
  const hook = {
    description: SAID.description,
    eventTypes: ['*'],
    payload: 'full',
    headers: { [SAID.headerName]: SAID.header },
  };
  await write('POST', '/webhooks', { ...hook, url: `${sink.url}/${SAID.path}` });
  await write('POST', '/webhooks', { ...hook, url: `${sink.url}/fails/${SAID.path}` });
  await write('POST', '/webhooks', { ...hook, url: `http://${SAID.host}.invalid/` });
  await administer('PATCH', `/users/${erasmus.userId}`, { name: SAID.laterName, email: SAID.laterEmail });
  const key = { 'idempotency-key': randomUUID() };
  const article = (
    await write('POST', '/articles', { title: 'Moria', body: '', tags: [], publish: true }, key)
  ).written.id;
  await write('POST', '/articles', { title: 'Antibarbari', body: '', tags: [], publish: false });
  const text = { text: SAID.comment };
  const comment = (
    await write('POST', `/articles/${article}/comments`, text, { 'idempotency-key': randomUUID() })
  ).written.id;
  await write('PATCH', `/comments/${comment}`, { text: SAID.laterComment });
  const mutation = `mutation { addComment(postId: "${article}", input: { text: "${SAID.comment}" }) { id text } }`;
  expect(
    (await graphql(mutation, { token: erasmus.token, headers: { 'idempotency-key': randomUUID() } })).errors,
  ).toBeUndefined();
  ids = { article, comment };
  await annals('projection', 'rebuild');
  await annals('replay', '--schema', 'replay_before_erasure');
  await inDatabase(installation.settings.DATABASE_URL ?? '', (client) => client.query('analyze'));
  const places = await until(
    async () => new Set((await search()).map(({ place }) => place)),
    (found) => EXPECTED.every((place) => found.has(place)),
    60_000,
  );
  expect([...places]).toEqual(expect.arrayContaining(EXPECTED));
});

/** Places known to contain it; the test is useful only if the search finds it there. */
const EXPECTED = [
  'read_model.users',
  'read_model.comments',
  'read_model.webhooks',
  'read_model_previous.users',
  'replay_before_erasure.users',
  'webhook_ledger.attempt',
];

test('all of it but secrets is in the export of the person', async ({ annals, erasmus }) => {
  const exported = await annals('people', 'export', String(erasmus.userId));
  const said = Object.entries(SAID).filter(([name]) => name !== 'header');
  expect([...said.map(([, text]) => text), erasmus.email].filter((text) => !exported.includes(text))).toEqual(
    [],
  );
  expect(exported).not.toContain(SAID.header);
});

test('after the deletion, it is in no table, file, topic or output', {
  timeout: scaled(180_000),
}, async ({ as, erasmus, installation, search, texts }) => {
  await as(erasmus.token).write('DELETE', `/users/${erasmus.userId}`);
  const left = await until(search, (found) => found.length === 0, 60_000);
  expect(left).toEqual([]);
  expect(hitsIn('printed', installation.printed(), texts)).toEqual([]);
  expect(hitsIn('topic', await readTopic(installation.settings.CHANGE_STREAM_URL), texts)).toEqual([]);
});

test('no interface shows it', async ({ erasmus, graphql, people, session, texts }) => {
  const { token } = people.administrator;
  const paths = [
    ...[
      '/users',
      `/users/${erasmus.userId}`,
      `/articles/${ids.article}`,
      `/articles/${ids.article}/comments`,
      `/comments/${ids.comment}`,
    ],
    ...[
      '/webhooks',
      '/events?limit=100',
      `/articles/${ids.article}/history`,
      `/comments/${ids.comment}/history`,
    ],
    ...[
      `/users/${erasmus.userId}/history`,
      `/users/${erasmus.userId}?at=v1`,
      `/comments/${ids.comment}?at=v1`,
      '/audit/export',
    ],
  ];
  for (const path of paths) {
    // A process that has just used the key caches it for some seconds.
    const look = async () => {
      const { body, status } = await session.read(path, { token });
      expect(status, path).toBeLessThan(500);
      return hitsIn(path, JSON.stringify(body), texts);
    };
    expect(await until(look, (hits) => hits.length === 0)).toEqual([]);
  }
  const query =
    '{ users(limit: 20) { name email } posts(limit: 10) { author { name } comments { text author { name } } } }';
  const { data, errors } = await graphql(query, { token });
  expect(errors).toBeUndefined();
  expect(hitsIn('GraphQL', JSON.stringify(data), texts)).toEqual([]);
  expect(data).toMatchObject({
    posts: [{ author: { name: 'Deleted user' }, comments: [{ text: '[deleted]' }, { text: '[deleted]' }] }],
  });
});

test('a report lists the erased data, the request, and that nothing is left', async ({
  annals,
  erasmus,
  people,
  session,
  texts,
}) => {
  const path = `/users/${erasmus.userId}/erasure`;
  const { body } = await until(
    () => session.read<ErasureReport>(path, { token: people.administrator.token }),
    ({ body: report }) => report.isDone,
    60_000,
  );
  expect(body).toMatchObject({
    userId: erasmus.userId,
    asked: { actor: `user:${erasmus.userId}`, client: 'journal-app' },
    sealed: [
      { type: 'comment.added', events: 2 },
      { type: 'comment.edited', events: 1 },
      { type: 'user.registered', events: 1 },
      { type: 'user.updated', events: 1 },
      { type: 'webhook.registered', events: 3 },
    ],
    followed: [
      { type: 'article.deleted', events: 1 },
      { type: 'webhook.deleted', events: 3 },
    ],
    kept: { publishedArticles: 1, commentsWithoutText: 2 },
  });
  expect(body.parts.map(({ part }) => part)).toEqual(
    expect.arrayContaining(['key', 'read_model', 'read_model_previous', 'password']),
  );
  expect(Date.parse(body.keyDestroyedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(body.listedAt ?? ''));
  const printed = await annals('erasure', 'report', String(erasmus.userId));
  expect(printed).toContain('Deleted with them: 1 article.deleted, 3 webhook.deleted.');
  expect(await annals('erasure', 'list')).toContain(`user ${erasmus.userId}  by event ${body.asked?.event}`);
  expect(hitsIn('report', JSON.stringify(body) + printed, texts)).toEqual([]);
  const living = await session.read(`/users/${people.administrator.userId}/erasure`, {
    token: people.administrator.token,
  });
  expect(living).toMatchObject({ status: 404, body: { code: 'not_erased' } });
});

test('the read model is proven', async ({ annals, search }) => {
  expect(await annals('projection', 'status')).toContain('Parked: nothing');
  await annals('audit', 'verify');
  await annals('projection', 'rebuild');
  expect(await search()).toEqual([]);
});
