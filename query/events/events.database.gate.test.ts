// Over 200 lines, because all tests share the history written at the beginning.
import { expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { linkIn } from '../../test/links.ts';
import { follow } from '../../testing/http/event-source.ts';

type Event = {
  readonly type: string;
  readonly cursor: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
};

const test = base
  .extend(
    'history',
    { scope: 'file' },
    async ({ admin, author, cursorNow, reader, stranger: _before, write }) => {
      const start = await cursorNow();
      const published = { title: 'Published', body: 'Text', tags: [], publish: true };
      const article = await write(author, 'POST', '/articles', published);
      const draft = await write(author, 'POST', '/articles', { title: 'Draft', body: '', tags: [] });
      await write(reader, 'POST', `/articles/${article}/comments`, { text: 'Well said.' });
      await write(admin, 'PATCH', `/users/${reader.id}`, { email: 'rita@example.com' });
      await write(reader, 'PATCH', `/users/${reader.id}`, { name: 'Margherita' });
      return { start, article, draft };
    },
  )
  .extend('feed', { scope: 'file' }, ({ backend, history: { start } }) => {
    const page = (by: Asker | null, query = '', headers = {}) =>
      backend.ask(`/events${query}`, { by, headers });
    const eventsOf = async (by: Asker, query = `?after=${start}&limit=100`) =>
      (await page(by, query)).body as readonly Event[];
    return { eventsOf, page };
  });

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type);

test('callers who may read the item now get the full data, without private fields', async ({
  admin,
  feed: { eventsOf },
  history: { article },
  reader,
  stranger,
}) => {
  const registered = async (by: Asker) =>
    (await eventsOf(by, `?user=${reader.id}&types=user.registered`))[0]?.data;
  expect(await registered(stranger)).toEqual({ userId: reader.id, name: 'Rita' });
  expect(await registered(reader)).toMatchObject({
    userId: reader.id,
    name: 'Rita',
    role: 'reader',
    email: null,
  });
  expect(await registered(admin)).toMatchObject({ role: 'reader' });
  const comment = (await eventsOf(stranger)).find(({ type }) => type === 'comment.added');
  expect(comment?.data).toMatchObject({ text: 'Well said.', articleId: article, authorId: reader.id });
});

test('the data of a withdrawn item keeps only its ids', async ({
  admin,
  author,
  backend,
  feed: { eventsOf },
  stranger,
  write,
}) => {
  const id = await write(author, 'POST', '/articles', {
    title: 'Regretted',
    body: 'Text',
    tags: [],
    publish: true,
  });
  await write(author, 'PATCH', `/articles/${id}`, { title: 'Bitterly regretted' });
  const edited = async (by: Asker) => (await eventsOf(by, `?article=${id}&types=article.edited`))[0]?.data;
  expect(await edited(stranger)).toMatchObject({ title: 'Bitterly regretted' });
  await write(author, 'POST', `/articles/${id}/unpublish`);
  const idsAlone = { articleId: id, authorId: author.id };
  expect(await edited(author)).toMatchObject({ title: 'Bitterly regretted' });
  expect(await edited(stranger)).toEqual(idsAlone);
  await backend.ask(`/articles/${id}`, { by: author, method: 'DELETE' });
  expect(await edited(admin)).toEqual(idsAlone);
});

test('read:events opens the feed, and other scopes their events', async ({
  admin,
  backend,
  feed: { eventsOf, page },
  stranger,
}) => {
  expect((await page(null)).status).toBe(401);
  const withScopes = (...scopes: string[]): Asker => ({ ...admin, scopes });
  expect(await page(withScopes('read:articles'))).toMatchObject({
    status: 403,
    body: { code: 'insufficient_scope' },
  });
  // Public events need no scope of their own.
  expect(typesOf(await eventsOf(withScopes('read:events')))).toEqual(typesOf(await eventsOf(stranger)));
  expect(typesOf(await eventsOf(withScopes('read:events')))).not.toContain('article.drafted');
  expect(typesOf(await eventsOf(withScopes('read:events', 'read:articles')))).toContain('article.drafted');
  // A stream shows ids without that scope (query/streams/bare-events.database.test.ts).
  const refused = await follow(`${backend.url}/events`);
  expect([refused.status, refused.headers.get('content-type')]).toEqual([
    401,
    'application/problem+json; charset=utf-8',
  ]);
});

test('filters return only matching events', async ({
  author,
  feed: { eventsOf },
  history: { article, draft, start },
  reader,
}) => {
  expect(typesOf(await eventsOf(author, `?article=${draft}`))).toEqual(['article.drafted']);
  expect(typesOf(await eventsOf(author, `?article=${article}`))).toEqual([
    'article.drafted',
    'article.published',
    'comment.added',
  ]);
  expect(typesOf(await eventsOf(author, `?author=${reader.id}`))).toEqual(['comment.added']);
  expect(typesOf(await eventsOf(reader, `?user=${reader.id}`))).toEqual([
    'user.registered',
    'user.updated',
    'user.updated',
  ]);
  expect(typesOf(await eventsOf(author, `?types=article.*&after=${start}&limit=3`))).toEqual([
    'article.drafted',
    'article.published',
    'article.drafted',
  ]);
  expect(
    typesOf(await eventsOf(author, `?types=comment.added,article.published&article=${article}`)),
  ).toEqual(['article.published', 'comment.added']);
});

test('pages walk the whole log once, and the last one links to a poll', async ({
  admin,
  backend,
  feed: { eventsOf, page },
}) => {
  const whole = await eventsOf(admin, '?limit=100');
  for (const limit of [1, 2, 5]) {
    const seen: Event[] = [];
    let path: string | undefined = `/events?limit=${limit}`;
    let last = new Headers();
    while (path !== undefined) {
      const { headers, body } = await backend.ask(path, { by: admin });
      seen.push(...(body as Event[]));
      expect((body as Event[]).length).toBeLessThanOrEqual(limit);
      [last, path] = [headers, linkIn(headers)];
    }
    expect(seen).toEqual(whole);
    const poll = linkIn(last, 'poll') ?? '';
    expect((await backend.ask(poll, { by: admin })).body).toEqual([]);
  }
  const hal = await page(admin, '?limit=1', { accept: 'application/hal+json' });
  expect(hal.body).toMatchObject({
    _links: { self: { href: '/events?limit=1' }, next: {} },
    _embedded: { items: [whole[0]] },
  });
});

test('an invalid request is refused with a precise detail', async ({
  admin,
  backend,
  feed: { page },
  history: { start },
}) => {
  const identity = backend.side.eventLog.identity;
  const beyond = formatCursor(identity, ((await backend.side.eventLog.head()) + 1_000) as never);
  const rows: readonly (readonly [string, object])[] = [
    ['?after=rubbish', { status: 400, body: { code: 'unknown_cursor' } }],
    [`?after=00000000-${start.split('-')[1]}`, { status: 400, body: { code: 'unknown_cursor' } }],
    [`?after=${beyond}`, { status: 400, body: { code: 'unknown_cursor' } }],
    [
      '?types=article.edited,article.vanished',
      {
        status: 400,
        body: { errors: [{ parameter: 'types', detail: expect.stringContaining('“article.vanished”') }] },
      },
    ],
    ['?types=email.claimed', { status: 400, body: { code: 'invalid_parameter' } }],
    ['?limit=0', { status: 400, body: { code: 'invalid_parameter', errors: [{ parameter: 'limit' }] } }],
    ['?limit=101', { status: 400, body: { code: 'invalid_parameter' } }],
    ['?article=x', { status: 400, body: { code: 'invalid_parameter' } }],
    ['?colour=red', { status: 400, body: { code: 'invalid_parameter', errors: [{ parameter: 'colour' }] } }],
  ];
  for (const [query, answer] of rows) {
    expect(await page(admin, query), query).toMatchObject(answer);
    const stream = await page(admin, query, { accept: 'text/event-stream' });
    expect(stream, query).toMatchObject({ status: 400 });
  }
  for (const lastEventId of ['rubbish', beyond])
    expect(
      await page(admin, '', { accept: 'text/event-stream', 'last-event-id': lastEventId }),
    ).toMatchObject({
      status: 400,
      body: {
        code: 'unknown_cursor',
        detail: expect.stringMatching(/^Last-Event-ID: .*Send a cursor that came/),
      },
    });
});

test('the client chooses the representation', async ({ admin, backend, feed: { page }, reader }) => {
  const typeFor = async (accept: string) => {
    const { headers, close } = await follow(`${backend.url}/events`, {
      headers: { accept, ...(await backend.authorization(reader)) },
    });
    await close();
    return headers.get('content-type');
  };
  expect(await typeFor('*/*')).toMatch(/^application\/json/);
  expect(await typeFor('text/event-stream')).toBe('text/event-stream; charset=utf-8');
  expect(await typeFor('application/json;q=0.5, text/event-stream')).toMatch(/^text\/event-stream/);
  expect(await typeFor('application/json, text/event-stream;q=0.5')).toMatch(/^application\/json/);
  expect(await page(reader, '', { accept: 'text/html' })).toMatchObject({
    status: 406,
    body: { detail: expect.stringContaining('event-stream') },
  });
  const head = await backend.ask('/events', {
    by: reader,
    method: 'HEAD',
    headers: { accept: 'text/event-stream' },
  });
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const options = await backend.ask('/events', { method: 'OPTIONS' });
  expect(options.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect(await backend.ask('/events', { by: admin, method: 'DELETE' })).toMatchObject({ status: 405 });
});

test('a stream ends with a reason when its token expires', async ({ backend, reader }) => {
  const exp = Math.floor(Date.now() / 1_000) + 2;
  const stream = await follow(`${backend.url}/events`, {
    headers: await backend.authorization(reader, { exp }),
  });
  expect(stream.status).toBe(200);
  await stream.over();
  expect(Date.now() / 1_000).toBeGreaterThanOrEqual(exp);
  expect(stream.messages).toMatchObject([
    { event: 'problem', data: expect.stringContaining('The token has expired.') },
  ]);
});

test('a stream delivers to each reader what they may see, from a cursor on and live', async ({
  author,
  backend,
  feed: { eventsOf },
  history: { start },
  stranger,
  write,
}) => {
  const streamOf = async (by: Asker, query = `?after=${start}`) =>
    follow(`${backend.url}/events${query}`, { headers: await backend.authorization(by) });
  const before = await Promise.all([stranger, author].map(async (by) => eventsOf(by)));
  const streams = await Promise.all([stranger, author].map(async (by) => streamOf(by)));
  const latest = await streamOf(author, '?types=article.*');
  const id = await write(author, 'POST', '/articles', { title: 'Another draft', body: '', tags: [] });
  const [first, second] = before;
  expect(await streams[1]?.data<Event>((second?.length ?? 0) + 1)).toMatchObject([
    ...(second ?? []),
    { subject: `article-${id}` },
  ]);
  expect(await latest.data<Event>(1)).toMatchObject([
    { subject: `article-${id}`, data: { title: 'Another draft' } },
  ]);
  expect(await streams[0]?.data<Event>(first?.length ?? 0)).toEqual(first);
  for (const { messages, close } of [...streams, latest]) {
    for (const { id: cursor, data } of messages) expect(cursor).toBe((JSON.parse(data) as Event).cursor);
    await close();
  }
});
