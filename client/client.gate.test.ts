// Over 200 lines, because it is one list: what a client sends, to a server whose answers each test sets.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { publishing } from '#domain/publishing.ts';
import { startLocalServer } from '../test/engines/local-server.ts';
import { until } from '../testing/until.ts';
import { can } from './can.ts';
import { createClient } from './client.ts';
import { fileDetails } from './file-details.ts';
import { NoAnswer, Problem } from './problem.ts';
import type { Options } from './requests.ts';
import { unlessAborted } from './wait.ts';

type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { readonly body: string };
type Answer = (response: ServerResponse, asked: Asked) => void;

const asked: Asked[] = [];
let answers: Answer[] = [];
let open: AsyncDisposableStack;
let url: string;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  asked.length = 0;
  const server = await startLocalServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    asked.push({ method, url, headers, body });
    const answer = answers.shift();
    if (answer === undefined) throw new Error(`nothing was to be asked: ${method} ${url}`);
    answer(response, { method, url, headers, body });
  });
  open.use(server);
  url = server.url;
});
afterEach(() => open.disposeAsync());

const clientOf = (options: Partial<Options> = {}) =>
  createClient<typeof publishing>({ url, token: 'secret', ...options });
const json =
  (body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'Content-Type': 'application/json', ...headers })
      .end(JSON.stringify(body));
const problem = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  json(
    { type: `urn:annals:problem:${code}`, title: `${code}.`, status, code, requestId: 'r1' },
    { 'Content-Type': 'application/problem+json', ...headers },
    status,
  );
const cut: Answer = (response) => void response.socket?.destroy();
const WRITTEN = { id: 7, version: 2, cursor: 'aaaaaaaa-1', _links: { self: { href: '/articles/7' } } };
const written = (token = 'aaaaaaaa-1') => json(WRITTEN, { ETag: '"2-"', 'Consistency-Token': token });
const NOW = { 'Retry-After': '0' };

test('groups are asked for by names, separated by commas', async () => {
  const found = { groups: [{ key: { status: 'draft' }, count: 3 }], hasMore: false };
  answers = [json(found), json(found)];
  const client = clientOf();
  const { groups } = await client.articles.aggregate({
    groupBy: ['status', 'month(createdAt)'],
    measures: ['count', 'max(publishedAt)'],
    having: ['count:3..'],
    sort: ['-count'],
    tag: 'looms',
  });
  expect(groups).toEqual(found.groups);
  await client.articles.of(7).comments.aggregate();
  const [first, second] = asked.map((each) => new URL(each.url ?? '', url));
  expect([first?.pathname, Object.fromEntries(first?.searchParams ?? [])]).toEqual([
    '/articles/aggregate',
    {
      groupBy: 'status,month(createdAt)',
      measures: 'count,max(publishedAt)',
      having: 'count:3..',
      sort: '-count',
      tag: 'looms',
    },
  ]);
  expect(second?.pathname).toBe('/articles/7/comments/aggregate');
});

test('paths follow from the names of the domain', async () => {
  const client = clientOf({ url: `${url}/behind/` });
  const none: Answer = (response) => void response.writeHead(204).end();
  answers = [
    json({}),
    json([]),
    json([]),
    json([]),
    written(),
    written(),
    written(),
    none,
    written(),
    json({}),
  ];
  await client.articles.get(7, { at: new Date(0) });
  await client.articles.list({ status: 'draft', limit: 3 }).page();
  await client.articles.of(7).comments.list().page();
  await client.users.of(3).articles.list({ tag: 'x y' }).page();
  await client.articles.create({ title: 'One', body: '' });
  await client.articles.edit(7, { title: 'Two' });
  await client.articles.publish(7);
  expect(await client.articles.delete(7)).toBeUndefined();
  await client.articles.of(7).comments.create({ text: 'Yes' });
  await client.me();
  expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /behind/articles/7?at=1970-01-01T00%3A00%3A00.000Z',
    'GET /behind/articles?status=draft&limit=3',
    'GET /behind/articles/7/comments',
    'GET /behind/users/3/articles?tag=x+y',
    'POST /behind/articles',
    'PATCH /behind/articles/7',
    'POST /behind/articles/7/publish',
    'DELETE /behind/articles/7',
    'POST /behind/articles/7/comments',
    'GET /behind/me',
  ]);
  expect(asked.map(({ headers, body }) => [headers['content-type'], body]).slice(4, 7)).toEqual([
    ['application/json', '{"title":"One","body":""}'],
    ['application/merge-patch+json', '{"title":"Two"}'],
    [undefined, ''],
  ]);
  expect(asked.every(({ headers }) => headers.authorization === 'Bearer secret')).toBe(true);
});

test('a write carries the ETag of the item that was read or written, and reads see the client’s own writes', async () => {
  const client = clientOf();
  answers = [
    json({ id: 7, title: 'One' }, { ETag: '"1-abc"' }),
    written('aaaaaaaa-z'),
    written('aaaaaaaa-10'),
    written('aaaaaaaa-9'),
    json({}),
    json({}),
  ];
  const article = await client.articles.get(7);
  const edited = await client.articles.edit(article, { title: 'Two' });
  await client.articles.publish(edited);
  await client.articles.edit(article, {}, { ifMatch: false });
  await client.articles.get(7);
  await client.articles.get(7, {}, { consistency: false });
  expect(asked.map(({ headers }) => headers['if-match'])).toEqual([
    undefined,
    '"1-abc"',
    '"2-"',
    undefined,
    undefined,
    undefined,
  ]);
  // The latest of them, in whichever order the answers arrived.
  expect(asked.map(({ headers }) => headers['consistency-token'])).toEqual([
    ...Array(4).fill(undefined),
    'aaaaaaaa-10',
    undefined,
  ]);
  expect(client.written).toBe('aaaaaaaa-10');
});

test('after the log was restored to an earlier point, reads stop waiting for a lost write', async () => {
  const client = clientOf();
  answers = [written(), problem(400, 'cursor_of_lost_history'), json({ id: 7 })];
  await client.articles.publish(7);
  expect(await client.articles.get(7)).toEqual({ id: 7 });
  expect([asked[2]?.headers['consistency-token'], client.written]).toEqual([undefined, undefined]);
});

test.each([
  ['the connection broke', cut],
  [
    'the answer broke off',
    ((response) => {
      response.writeHead(200, { 'Content-Length': '99' }).flushHeaders();
      response.socket?.end('{');
    }) as Answer,
  ],
  ['too many requests', problem(429, 'rate_limited', NOW)],
  ['it was not there yet', problem(503, 'not_yet_visible', NOW)],
  ['a proxy has nobody to ask', ((response) => void response.writeHead(502).end('<html>')) as Answer],
  ['the same request was running', problem(409, 'idempotency_key_in_use')],
])('a write is retried with the same key if %s', async (_, failure) => {
  answers = [failure, written()];
  expect(await clientOf().articles.publish(7)).toEqual(WRITTEN);
  const keys = asked.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
});

test('two calls have two idempotency keys, and a caller’s key is used', async () => {
  const client = clientOf();
  answers = [written(), written(), written()];
  await client.articles.publish(7);
  await client.articles.publish(7);
  await client.articles.publish(7, undefined, { idempotencyKey: 'mine' });
  const [one, other, mine] = asked.map(({ headers }) => headers['idempotency-key']);
  expect(one).not.toBe(other);
  expect(mine).toBe('mine');
});

test('a write without a key is sent once', async () => {
  for (const failure of [cut, problem(503, 'unavailable', NOW), problem(429, 'rate_limited', NOW)]) {
    asked.length = 0;
    answers = [failure];
    await expect(clientOf().articles.publish(7, undefined, { idempotencyKey: false })).rejects.toThrow();
    expect(asked).toHaveLength(1);
  }
});

test.each([
  [409, 'article_not_published'],
  [412, 'version_mismatch'],
  [503, 'parked'],
  [500, 'internal'],
  [403, 'forbidden'],
])('a %s is an error with its code, and is not retried', async (status, code) => {
  const client = clientOf();
  answers = [problem(status, code)];
  const error = await client.articles.publish(7).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Problem);
  expect(error).toMatchObject({ status, code, requestId: 'r1', message: `${code}.` });
  expect([client.isProblem(error), client.isProblem(error, 'invalid_request')]).toEqual([true, false]);
  expect(asked).toHaveLength(1);
});

test('it waits as long as the server says, and no longer than its retry budget', async () => {
  answers = [problem(429, 'rate_limited', { 'Retry-After': '3600' })];
  await expect(clientOf().articles.get(7)).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 3_600_000,
  });
  expect(asked).toHaveLength(1);
  answers = [cut, cut, cut];
  await expect(clientOf({ attemptsMax: 3 }).articles.get(7)).rejects.toMatchObject({
    name: 'NoAnswer',
    reason: 'connection',
  });
  expect(answers).toEqual([]);
});

test('an attempt has a timeout, and a call can be aborted, even while it waits', async () => {
  const silent: Answer = () => {};
  answers = [silent];
  const error = await clientOf({ attemptsMax: 1 })
    .articles.get(7, {}, { timeoutMs: 20 })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NoAnswer);
  expect(error).toMatchObject({ reason: 'timeout' });
  const leaving = new AbortController();
  const reason = new Error('left the page');
  answers = [
    (response, told) => {
      problem(503, 'unavailable', { 'Retry-After': '50' })(response, told);
      response.once('close', () => leaving.abort(reason));
    },
  ];
  await expect(clientOf().with({ signal: leaving.signal }).articles.get(7)).rejects.toBe(reason);
  await expect(clientOf().articles.get(7, {}, { signal: leaving.signal })).rejects.toBe(reason);
  expect(asked).toHaveLength(2);
});

test('a refused request is retried once if the session has another token', async () => {
  let token = 'old';
  const session = {
    authorize: async () => ({ Authorization: `Bearer ${token}` }),
    refused: async () => {
      token = 'new';
      return true;
    },
  };
  answers = [
    problem(401, 'invalid_token'),
    written(),
    problem(401, 'invalid_token'),
    problem(401, 'invalid_token'),
  ];
  const client = clientOf({ token: session });
  await client.articles.publish(7, undefined, { idempotencyKey: false });
  expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  await expect(client.articles.publish(7)).rejects.toMatchObject({ code: 'invalid_token' });
  expect(asked).toHaveLength(4);
});

test('lists are read page by page, as the loop proceeds', async () => {
  const link = (cursor: string) => ({
    Link: `</articles?after=${cursor}>; rel="next", </articles>; rel="first"`,
  });
  const client = clientOf();
  answers = [json([{ id: 1 }, { id: 2 }], link('a%2B')), json([{ id: 3 }], link('b'))];
  const ids: number[] = [];
  for await (const { id } of client.articles.list({ status: 'draft', before: 'z' })) {
    ids.push(id);
    if (id === 3) break;
  }
  expect(ids).toEqual([1, 2, 3]);
  expect(asked.map((each) => each.url)).toEqual([
    '/articles?status=draft&before=z',
    '/articles?status=draft&after=a%2B',
  ]);
  answers = [json([{ id: 1 }], link('a')), json([{ id: 2 }], { Link: '</articles?before=c>; rel="prev"' })];
  const pages = await Array.fromAsync(client.articles.list().pages());
  expect(pages).toMatchObject([
    { items: [{ id: 1 }], after: 'a', before: undefined },
    { items: [{ id: 2 }], after: undefined, before: 'c' },
  ]);
  answers = [json([{ id: 1 }, { id: 2 }], link('a'))];
  expect(await client.articles.list().take(2)).toMatchObject([{ id: 1 }, { id: 2 }]);
});

test('files keep their bytes and type, and the token is sent only to uploads of Annals', async () => {
  const client = clientOf();
  answers = [cut, written(), (response) => void response.end('bytes'), json({ href: '/x', expiresAt: '' })];
  await client.articles.putFile(7, 'cover', new Blob(['png'], { type: 'image/png' }));
  expect(asked.map(({ url, body, headers }) => [url, body, headers['content-type']])).toEqual(
    Array(2).fill(['/articles/7/cover', 'png', 'image/png']),
  );
  expect(await (await client.files.get('/uploads/a.png')).text()).toBe('bytes');
  await client.files.address('/uploads/a.png');
  expect(asked.slice(2).map((each) => each.url)).toEqual(['/uploads/a.png', '/uploads/a.png/address']);
  for (const path of ['https://elsewhere.example/a.png', '/uploads/../me'])
    expect(() => client.files.get(path)).toThrow('not the path of an upload');
});

test('a file has a whole address in one line, and a picture of another site keeps its own', async () => {
  const client = clientOf();
  answers = [json({ href: '/uploads/a.png?until=1&signature=x', expiresAt: '' })];
  expect(await client.files.url('/uploads/a.png')).toBe(`${url}/uploads/a.png?until=1&signature=x`);
  expect(await client.files.url('https://elsewhere.example/a.png')).toBe('https://elsewhere.example/a.png');
  await expect(client.files.url('javascript:alert(1)')).rejects.toThrow('not the path of an upload');
  expect(asked.map((each) => each.url)).toEqual(['/uploads/a.png/address']);
});

test('a file keeps its name, and its address states its details', async () => {
  const client = clientOf();
  answers = [
    written(),
    written(),
    (response) => void response.end('bytes'),
    json({ href: '/x', expiresAt: '' }),
  ];
  await client.articles.putFile(7, 'cover', new File(['pdf'], 'größe 1.pdf', { type: 'application/pdf' }));
  await client.articles.putFile(7, 'cover', new Blob(['pdf']), { type: 'application/pdf', name: 'a.pdf' });
  expect(asked.map(({ headers }) => headers['content-disposition'])).toEqual([
    "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe%201.pdf",
    "attachment; filename*=UTF-8''a.pdf",
  ]);
  const sha256 = 'a'.repeat(64);
  const address = `/uploads/7-a.file?type=application%2Fpdf&bytes=3&sha256=${sha256}&name=a%20b.pdf`;
  expect(fileDetails(address)).toEqual({ type: 'application/pdf', bytes: 3, sha256, name: 'a b.pdf' });
  expect(fileDetails('/uploads/7-a.png')).toBeUndefined();
  await client.files.get(address);
  await client.files.address(address);
  expect(asked.slice(2).map((each) => each.url)).toEqual(['/uploads/7-a.file', '/uploads/7-a.file/address']);
});

test('a stream as a body is sent once, because it cannot be read again', async () => {
  answers = [problem(503, 'unavailable', NOW)];
  const body = new Blob(['png']).stream() as never;
  await expect(clientOf().articles.putFile(7, 'cover', body, { type: 'image/png' })).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(asked.map((each) => each.body)).toEqual(['png']);
});

test('links say which actions are possible', async () => {
  answers = [
    json({
      id: 7,
      _links: { self: { href: '/articles/7' }, publish: { href: '/articles/7/publish', method: 'POST' } },
    }),
  ];
  const article = await clientOf().articles.get(7);
  expect([can(article, 'publish'), can(article, 'unpublish')]).toEqual([true, false]);
});

test('neither the client nor its members look like a promise', async () => {
  const client = clientOf();
  expect(await client).toBe(client);
  expect(await client.articles).toHaveProperty('get');
});

const event = (cursor: string) =>
  `id: ${cursor}\ndata: ${JSON.stringify({ cursor, type: 'article.drafted', data: {} })}\n\n`;
const stream =
  (...parts: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const part of parts) response.write(part);
  };
const streamThenCut =
  (...parts: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(parts.join(''), () => setImmediate(() => response.destroy()));
  };
const CURSOR = json({ data: { cursor: 'c-0' } });

test('a stream resumes after the last event, however the connection ended', async () => {
  answers = [
    CURSOR,
    cut,
    problem(503, 'overloaded', NOW),
    streamThenCut('retry: 1\n\n', event('c-1'), 'id: c-2\ndata: {"half'),
    streamThenCut(
      event('c-2'),
      'id: c-5\n\n',
      `event: problem\ndata: ${JSON.stringify({ status: 401, code: 'invalid_token', title: '' })}\n\n`,
    ),
    stream(': lives\n\n', event('c-6')),
  ];
  const followed = clientOf().follow({ types: ['article.*'] });
  const cursors: string[] = [];
  for await (const { cursor } of followed) {
    cursors.push(cursor);
    if (cursor === 'c-6') break;
  }
  expect(cursors).toEqual(['c-1', 'c-2', 'c-6']);
  expect(asked.map((each) => each.url)).toEqual([
    '/graphql',
    ...['c-0', 'c-0', 'c-0', 'c-1', 'c-5'].map((cursor) => `/events?types=article.*&after=${cursor}`),
  ]);
});

test('an event counts as processed once the loop asks for the next', async () => {
  answers = [stream(event('c-1'), event('c-2'))];
  const followed = clientOf().follow({ after: 'c-0' });
  await followed.next();
  expect(followed.cursor).toBe('c-0');
  await followed.next();
  expect(followed.cursor).toBe('c-1');
  await followed.return?.();
});

test.each([
  [401, 'invalid_token'],
  [403, 'insufficient_scope'],
  [400, 'cursor_of_lost_history'],
])('a stream that is refused by %s %s is not tried again', async (status, code) => {
  answers = [streamThenCut(event('c-1')), problem(status, code)];
  const client = clientOf();
  const error = await Array.fromAsync(client.follow({ after: 'c-0' })).catch((thrown: unknown) => thrown);
  expect(client.isProblem(error, code as 'forbidden')).toBe(true);
});

test('a silent stream is opened again, and one with heartbeats is not', async () => {
  answers = [
    (response) => {
      response.writeHead(200);
      response.write(event('c-1'));
    },
    (response) => {
      response.writeHead(200);
      const beat = setInterval(() => response.write(':\n\n'), 30);
      setTimeout(() => response.write(event('c-2')), 900);
      response.once('close', () => clearInterval(beat));
    },
  ];
  const followed = clientOf().follow({ after: 'c-0' }, { silenceMaxMs: 700 });
  expect((await followed.next()).value?.cursor).toBe('c-1');
  expect((await followed.next()).value?.cursor).toBe('c-2');
  await followed.return?.();
  expect(asked).toHaveLength(2);
});

test('a stream ends at once when the loop ends or its signal is aborted', async () => {
  const leaving = new AbortController();
  answers = [stream(), stream(event('c-1')), stream()];
  const left = clientOf().follow({ after: 'c-0' });
  const last = left.next();
  await until(
    () => asked.length,
    (count) => count === 1,
  );
  await left.return?.();
  expect(await last).toEqual({ done: true, value: undefined });
  for await (const _ of clientOf().follow({ after: 'c-0' })) break;
  const followed = clientOf().follow({ after: 'c-0' }, { signal: leaving.signal });
  const next = followed.next();
  await until(
    () => asked.length,
    (count) => count === 3,
  );
  leaving.abort(new Error('left the page'));
  await expect(next).rejects.toThrow('left the page');
});

test('a stream has the signal and the headers that `with` gives it', async () => {
  const leaving = new AbortController();
  answers = [stream()];
  const client = clientOf().with({ signal: leaving.signal, headers: { 'X-Trace': 'mine' } });
  const next = client.follow({ after: 'c-0' }).next();
  await until(
    () => asked.length,
    (count) => count === 1,
  );
  expect(asked[0]?.headers).toMatchObject({ 'x-trace': 'mine', accept: 'text/event-stream' });
  leaving.abort(new Error('left the page'));
  await expect(next).rejects.toThrow('left the page');
});

test('a write to another path is sent once, and retried only with the caller’s own key', async () => {
  answers = [cut];
  await expect(clientOf().request('POST', '/token', {})).rejects.toThrow(NoAnswer);
  expect(asked.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined]);
  answers = [cut, written()];
  await clientOf().request('POST', '/webhooks', {}, { idempotencyKey: 'mine' });
  expect(asked.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, 'mine', 'mine']);
});

test('a success without JSON is not an answer of Annals', async () => {
  const page: Answer = (response) =>
    void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>');
  const client = clientOf();
  const calls = [
    () => client.articles.get(7),
    () => client.articles.list().page(),
    () => client.me(),
    () => client.articles.publish(7),
  ];
  answers = calls.map(() => page);
  for (const call of calls)
    await expect(call()).rejects.toMatchObject({ name: 'Problem', code: 'unexpected_answer', status: 200 });
});

test.each([
  '@evil.example/x',
  '.evil.example/x',
  ':1/x',
  'https://evil.example/x',
  '//evil.example/x',
  '/\\evil.example/x',
  '/\t/evil.example/x',
  '/..//evil.example/x',
])('a token goes to no other origin than that of Annals: %j is not a path', async (path) => {
  const fetched: string[] = [];
  const fetch = async (input: string) => {
    fetched.push(input);
    return Response.json([]);
  };
  for (const base of [url, '', '/']) {
    const client = clientOf({ url: base, fetch });
    await expect(client.request('GET', path)).rejects.toThrow(TypeError);
    await expect(client.request('POST', path, {})).rejects.toThrow(TypeError);
  }
  expect(fetched).toEqual([]);
});

test('a path cannot leave the base path', async () => {
  const client = clientOf({ url: `${url}/behind/` });
  answers = [json([]), json({})];
  await client.request('GET', '/../of-another');
  await client.request('GET', '/webhooks?limit=3');
  expect(asked.map(({ url }) => url)).toEqual(['/behind/of-another', '/behind/webhooks?limit=3']);
});

test.each(['', '.', '..'])(
  'an id that is %j is refused, because its path would be that of something else',
  async (id) => {
    await expect(clientOf().articles.delete({ id } as never)).rejects.toThrow(TypeError);
    await expect(clientOf().articles.get(id as never)).rejects.toThrow(TypeError);
    expect(asked).toEqual([]);
  },
);

test('an error of the platform is not treated as a broken connection', async () => {
  const { any } = AbortSignal;
  open.defer(() => {
    AbortSignal.any = any;
  });
  AbortSignal.any = undefined as never;
  await expect(clientOf().articles.get(7)).rejects.toThrow(TypeError);
});

test('an aborted signal ends the wait for a promise at once', async () => {
  const { promise } = Promise.withResolvers<void>();
  await expect(unlessAborted(promise, AbortSignal.abort(new Error('left before')))).rejects.toThrow(
    'left before',
  );
});
