import { afterAll, beforeEach, expect, test } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { type Asker, type Backend, openBackend } from '../../test/engines/backend.ts';
import { nowS } from '../../test/token-mint.ts';
import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';

const resources = new AsyncDisposableStack();
const backend: Backend = resources.use(await openBackend({ NODE_ENV: 'test' }));
const admin = await backend.person('admin');
afterAll(() => resources.disposeAsync());

let author: Asker;
let draft: number;
let token: string;
beforeEach(async () => {
  await backend.startProjector();
  author = await backend.person('author', 'Ada');
  draft = (
    (await write(author, 'POST', '/articles', { title: 'A draft', body: '', tags: [] })) as { id: number }
  ).id;
  await backend.ask(`/articles/${draft}`, { by: author });
  token = await tokenOf();
});

const tokenOf = async (claims = {}) =>
  (await backend.authorization(author, claims)).authorization?.replace('Bearer ', '') ?? '';
const authorized = () => ({ authorization: `Bearer ${token}` });

const write = async (by: Asker, method: string, path: string, body?: object): Promise<unknown> => {
  const reply = await backend.ask(path, { by, method, ...(body && { body }) });
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
  return reply.body;
};
const demote = () => write(admin, 'PATCH', `/users/${author.id}`, { role: 'reader' });
const edit = (title: string) => write(admin, 'PATCH', `/articles/${draft}`, { title });
const cursorNow = async () =>
  formatCursor(backend.side.eventLog.identity, await backend.side.eventLog.head());
const receivedBy = ({ messages }: Followed) => JSON.stringify(messages);
const untilReceived = (stream: Followed, text: string) =>
  until(
    () => receivedBy(stream),
    (told) => told.includes(text),
  );

const CHANGES = 'type article { title }';

/** Opens one stream in each way that there is. */
const openAll = async (after?: string) => {
  const query = after === undefined ? '' : `?after=${after}`;
  const argument = after === undefined ? '' : `(after: "${after}")`;
  return Promise.all([
    follow(`${backend.url}/events${query}`, { headers: authorized() }),
    streamOf({ url: backend.url, fetch }, `subscription { changes${argument} { ${CHANGES} } }`, { token }),
    openOperation(`subscription { changes${argument} { ${CHANGES} } }`),
  ]);
};

/** The single connection mode of GraphQL over SSE: the stream carries the result of the operation. */
const openOperation = async (query: string): Promise<Followed> => {
  const at = `${backend.url}/graphql`;
  const streamToken = await (await fetch(at, { method: 'PUT', headers: authorized() })).text();
  // The token of the stream admits any reader; only the operation is the author’s.
  const stream = await follow(at, { headers: { 'x-graphql-event-stream-token': streamToken } });
  const response = await fetch(at, {
    method: 'POST',
    headers: {
      ...authorized(),
      'content-type': 'application/json',
      'x-graphql-event-stream-token': streamToken,
    },
    body: JSON.stringify({ query, extensions: { operationId: 'one' } }),
  });
  expect(response.status).toBe(202);
  return stream;
};

test('no stream opened before a demotion delivers anything that follows it in the log', async () => {
  const streams = await openAll();
  await edit('While they may read it');
  for (const stream of streams) await untilReceived(stream, 'While they may read it');
  await backend.stopProjector();
  await demote();
  await edit('Not theirs to read');
  // One page of changes contains both.
  await backend.startProjector();
  const [events, subscription, operation] = streams;
  await Promise.all([events.over(), subscription.over()]);
  await untilReceived(operation, 'complete');
  for (const stream of streams) {
    expect(receivedBy(stream)).toContain('While they may read it');
    expect(receivedBy(stream)).toContain('invalid_token');
    expect(receivedBy(stream)).not.toContain('Not theirs to read');
    await stream.close();
  }
});

test('a token issued before a demotion opens no stream afterwards', async () => {
  const after = await cursorNow();
  await demote();
  await edit('Not theirs to read');
  await backend.ask(`/articles/${draft}`, { by: admin });
  const opened = await follow(`${backend.url}/events?after=${after}`, { headers: authorized() });
  expect(opened.status).toBe(401);
  const subscribed = await streamOf({ url: backend.url, fetch }, `subscription { changes { ${CHANGES} } }`, {
    token,
  });
  expect(subscribed.status).toBe(401);
});

test('a token issued before a demotion is refused, however far ahead the issuer’s clock was', async () => {
  token = await tokenOf({ user_version: 1, iat: nowS() + 4 });
  const [events] = await openAll();
  await demote();
  await events.over();
  expect(receivedBy(events)).toContain('invalid_token');
  const opened = await follow(`${backend.url}/events`, { headers: authorized() });
  expect(opened.status).toBe(401);
});

test('a token issued after a demotion is accepted at once, also within the same second', async () => {
  await demote();
  await backend.ask(`/users/${author.id}`, { by: admin });
  const former = await follow(`${backend.url}/events`, { headers: authorized() });
  expect(former.status).toBe(401);
  author = { ...author, role: 'reader' };
  token = await tokenOf({ user_version: 2 });
  await using stream = await follow(`${backend.url}/events`, { headers: authorized() });
  expect(stream.status).toBe(200);
});

test.each([
  ['with the version of its user', () => ({ user_version: 2 })],
  ['of a former release, by its time', () => ({ iat: nowS() + 4 })],
])('a token that is newer than the read model opens streams: one %s', async (_of, claims) => {
  await backend.stopProjector();
  author = { ...author, role: 'admin' };
  token = await tokenOf(claims());
  await using stream = await follow(`${backend.url}/events`, { headers: authorized() });
  expect(stream.status).toBe(200);
  await backend.startProjector();
  await edit('Theirs to read');
  await untilReceived(stream, 'Theirs to read');
});

test('the streams of a deleted user end, and those of others continue', async () => {
  const theirs = await follow(`${backend.url}/events`, { headers: authorized() });
  await using others = await follow(`${backend.url}/events`, { headers: await backend.authorization(admin) });
  await write(admin, 'DELETE', `/users/${author.id}`);
  await theirs.over();
  expect(receivedBy(theirs)).toContain('invalid_token');
  await untilReceived(others, 'user.deleted');
  expect(others.isOver()).toBe(false);
});
