import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { GraphqlStream } from '../../testing/graphql/graphql-stream.ts';
import { until } from '../../testing/until.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { PUBLISHED, type Published } from '../engines/publishing.ts';

const STREAMS_MAX = 3;
const test = base.extend(
  'installationOptions',
  { scope: 'file' },
  {
    // A server keeps its heartbeat while its reader is busy.
    ownProcess: true,
    settings: {
      STREAMS_PER_OWNER_MAX: String(STREAMS_MAX),
      STREAM_BUFFER_BYTES_MAX: '65536',
      // The last message has two heartbeats to arrive.
      STREAM_HEARTBEAT_MS: '2000',
    },
  },
);

test('the number of streams of a user is limited, independent of others', async ({
  ada: { token },
  ask,
  installation,
  openStream,
}) => {
  const open: GraphqlStream[] = [];
  // At each process: the ingress uses all of them.
  const taken = async () => {
    open.push(await openStream(PUBLISHED, { token }));
    return open.filter(({ status }) => status === 200).length;
  };
  await until(taken, (count) => count === STREAMS_MAX * installation.query.length);
  const refused = await ask('POST', '/graphql', {
    token,
    headers: { accept: 'text/event-stream' },
    body: { query: PUBLISHED },
  });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
  expect(refused.body).toMatchObject({ errors: [{ extensions: { code: 'too_many_streams' } }] });
  expect((await openStream(PUBLISHED)).status).toBe(200);
  for (const stream of open) await stream.close();
  await until(
    async () => (await openStream(PUBLISHED, { token })).status,
    (status) => status === 200,
  );
});

test('an idle stream advances, so that a reconnect never reads far back', async ({
  openStream,
  publishing,
}) => {
  const stream = await openStream('subscription { articleChanged(id: 5) { type } }');
  const first = await until(stream.lastEventId, (id) => id !== '');
  await publishing.publish('Elsewhere');
  await until(stream.lastEventId, (id) => id !== first);
  expect(stream.messages).toEqual([]);
});

test('a slow reader gets an error, and loses nothing by reconnecting', async ({
  ada: { token },
  graphql,
  graphqlUrl,
  installation,
  openStream,
  publishing,
}) => {
  // Two megabytes each.
  const wide = Array.from({ length: 20 }, (_, index) => `_${index}: body`).join(' ');
  const query = `subscription { articlePublished { cursor article { title ${wide} } } }`;
  const beginning = await publishing.cursor();
  const witness = await openStream(PUBLISHED);
  const response = await installation.fetch(graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  });
  const create = 'mutation ($input: PostInput!) { createPost(input: $input) { id } }';
  const titles = Array.from({ length: 12 }, (_, index) => `Wide ${index}`);
  for (const title of titles)
    await graphql(create, {
      token,
      variables: { input: { title, body: 'b'.repeat(100_000), publish: true } },
    });
  // A reader that starts before it is written is not slow.
  await witness.results<Published>(titles.length);
  const text = await response.text();
  const messages = text.split('\n\n').filter((message) => message.startsWith('event:'));
  expect(messages.filter((message) => message.startsWith('event: next')).length).toBeLessThan(titles.length);
  expect(messages.at(-2)).toContain('"code":"too_slow"');
  expect(messages.at(-1)).toBe('event: complete\ndata:');
  const again = await openStream(PUBLISHED, { variables: { after: beginning } });
  const received = await again.results<Published>(titles.length);
  expect(received.map(({ data }) => data?.articlePublished.article.title)).toEqual(titles);
});

test('persisted documents support subscriptions', async ({ openStream, publishing }) => {
  const sha256Hash = createHash('sha256').update(PUBLISHED).digest('hex');
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  const first = await openStream('', { body: { query: PUBLISHED, extensions } });
  const byHash = async () => {
    const stream = await openStream('', { body: { extensions } });
    await until(() => stream.isOver() || stream.lastEventId() !== '', Boolean);
    return stream;
  };
  // Each process remembers its own documents.
  const second = await until(byHash, (stream) => !stream.isOver());
  await publishing.publish('Persisted');
  for (const stream of [first, second])
    expect((await stream.results<Published>(1))[0]?.data?.articlePublished.article.title).toBe('Persisted');
});

// Last, because it ends the server.
test('a server that stops ends its streams at once, unfinished, so that clients reconnect', async ({
  installation,
  openStream,
}) => {
  const stream = await openStream(PUBLISHED);
  const exited = Promise.all(installation.query.map((copy) => copy.kill('SIGTERM')));
  await stream.over();
  expect([stream.isComplete(), stream.messages]).toEqual([false, []]);
  expect(new Set(await exited)).toEqual(new Set([0]));
});
