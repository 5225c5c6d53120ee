import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { ARTICLE, createWriteWorld, make, type WriteWorld } from '../../test/engines/write-world.ts';
import { until } from '../../testing/until.ts';

/** A log that delays appends to articles while the gate is held. */
const gate = { held: undefined as Promise<void> | undefined, waiting: 0 };
const slow = (log: EventLog): EventLog => ({
  ...log,
  async append(stream, expected, events) {
    if (gate.held && stream.startsWith('article-')) {
      gate.waiting += 1;
      await gate.held;
    }
    return log.append(stream, expected, events);
  },
});

let world: WriteWorld;
beforeAll(async () => {
  world = await createWriteWorld({ wrap: slow });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const send: WriteWorld['send'] = (...sent) => world.send(...sent);
const keyed = (key: string) => ({ 'Idempotency-Key': key });

const anArticle = async () => `/articles/${await make(world, '/articles', ARTICLE)}`;

const WRITES: readonly (readonly [string, () => Promise<string>, object | undefined])[] = [
  ['POST /articles', async () => '/articles', ARTICLE],
  ['POST /users', async () => '/users', { name: 'Grace' }],
  [
    'POST /articles/{id}/comments',
    async () => `/articles/${await make(world, '/articles', { ...ARTICLE, publish: true })}/comments`,
    { text: 'Well said.' },
  ],
  [
    'POST /articles/{id}/publish',
    async () => `/articles/${await make(world, '/articles', ARTICLE)}/publish`,
    undefined,
  ],
  [
    'POST /articles/{id}/unpublish',
    async () => `/articles/${await make(world, '/articles', { ...ARTICLE, publish: true })}/unpublish`,
    undefined,
  ],
  ['PUT /articles/{id}', anArticle, { ...ARTICLE, title: 'Put', cover: null }],
  ['PATCH /articles/{id}', anArticle, { title: 'Patched' }],
  ['DELETE /articles/{id}', anArticle, undefined],
  [
    'DELETE /users/{id}',
    async () => `/users/${await make(world, '/users', { name: 'Gone' }, world.admin)}`,
    undefined,
  ],
];

describe.each(WRITES)('%s', (name, pathOf, body) => {
  const [method = ''] = name.split(' ');
  const by = () => world.admin;

  test('runs once per key, and a retry gets the first response', async () => {
    const path = await pathOf();
    const sent = { body, headers: keyed(`once ${name}`.replaceAll(' ', '-')), by: by() };
    const first = await send(method, path, sent);
    expect(first.status).toBeLessThan(300);
    const head = await world.side.eventLog.head();
    const again = await send(method, path, sent);
    expect(again).toMatchObject({ status: first.status, body: first.body });
    for (const header of ['location', 'etag', 'consistency-token', 'content-type'])
      expect(again.headers.get(header)).toBe(first.headers.get(header));
    expect(await world.side.eventLog.head()).toBe(head);
  });

  test.each(['', ' ', 'a b', 'é', 'x'.repeat(256)])('with the key %j is refused', async (key) => {
    // `fetch` sends such characters as latin1, like bytes.
    const answer = await send(method, await pathOf(), { body, headers: keyed(key), by: by() });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'malformed_request', detail: expect.stringContaining('Idempotency-Key') },
    });
  });
});

test('is refused if the key was used for another request', async () => {
  await send('POST', '/articles', { body: ARTICLE, headers: keyed('reused') });
  const reused = { status: 422, body: { code: 'idempotency_key_reused' } };
  expect(
    await send('POST', '/articles', { body: { ...ARTICLE, title: 'Two' }, headers: keyed('reused') }),
  ).toMatchObject(reused);
  const path = `/articles/${await make(world, '/articles', ARTICLE)}/publish`;
  expect(await send('POST', path, { headers: keyed('reused') })).toMatchObject(reused);
});

test('a retried change does not overwrite a later one', async () => {
  const path = await anArticle();
  const lost = { body: { title: 'Mine' }, headers: { ...keyed('late'), 'If-Match': '"1-"' } };
  const first = await send('PATCH', path, lost);
  await send('PATCH', path, { body: { title: 'Theirs' } });
  const head = await world.side.eventLog.head();
  expect(await send('PATCH', path, lost)).toMatchObject({ status: 200, body: first.body });
  expect(await send('PATCH', path, { ...lost, body: { title: 'Other' } })).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  });
  expect(await world.side.eventLog.head()).toBe(head);
});

test('a key belongs to its caller', async () => {
  const mine = await send('POST', '/articles', { body: ARTICLE, headers: keyed('shared') });
  const theirs = await send('POST', '/articles', {
    body: ARTICLE,
    headers: keyed('shared'),
    by: world.admin,
  });
  expect([mine.status, theirs.status]).toEqual([201, 201]);
  expect(mine.body.id).not.toBe(theirs.body.id);
});

test('a refusal is repeated, and a malformed request leaves the key unused', async () => {
  const id = await make(world, '/articles', ARTICLE);
  const comment = { body: { text: 'x' }, headers: keyed('refused') };
  expect(await send('POST', `/articles/${id}/comments`, comment)).toMatchObject({
    status: 409,
    body: { code: 'article_not_published' },
  });
  await send('POST', `/articles/${id}/publish`);
  expect(await send('POST', `/articles/${id}/comments`, comment)).toMatchObject({
    status: 409,
    body: { code: 'article_not_published' },
  });
  expect(await send('POST', '/articles', { body: {}, headers: keyed('better') })).toMatchObject({
    status: 422,
  });
  expect(await send('POST', '/articles', { body: ARTICLE, headers: keyed('better') })).toMatchObject({
    status: 201,
  });
});

test('a second request with the same key must retry while the first is running', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(gate, { held: promise, waiting: 0 });
  const sent = { body: ARTICLE, headers: keyed('running') };
  const first = send('POST', '/articles', sent);
  await until(
    () => gate.waiting,
    (waiting) => waiting === 1,
  );
  const second = await send('POST', '/articles', sent);
  expect(second).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } });
  expect(second.headers.get('retry-after')).toBe('1');
  gate.held = undefined;
  resolve();
  const { status, body } = await first;
  expect(status).toBe(201);
  expect(await send('POST', '/articles', sent)).toMatchObject({ status: 201, body });
});
