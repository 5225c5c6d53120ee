// Over 200 lines, because it is one journey: each step begins where the one before has come to.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Article } from '#shared/rest/articles.ts';
import type { Comment } from '#shared/rest/comments.ts';
import type { User } from '#shared/rest/users.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { openPeople, type People, type Person } from '../engines/installation-people.ts';
import { type Ask, type Reply, type RestClient, restClientOf } from '../engines/rest-client.ts';
import { until } from '../engines/until.ts';

/** What a newcomer does in the first hour, by HTTP alone. The tests follow one upon the other. */
let installation: Installation;
let people: People;
let ask: RestClient;
let ada: Person;
let rita: Person;

beforeAll(async () => {
  installation = await startInstallation();
  people = await openPeople(installation);
  ask = restClientOf(installation);
  [ada, rita] = (await Promise.all([people.signUp('Ada'), people.signUp('Rita')])) as [Person, Person];
});
afterAll(() => installation?.[Symbol.asyncDispose]());

type Written = { readonly id: number; readonly version: number; readonly cursor: string };
let cursor = '';

/** Writes, and remembers how far a reader must have come to see it. */
const write = async (method: string, path: string, options: Ask): Promise<Reply & { readonly written: Written }> => {
  const reply = await ask(method, path, options);
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
  cursor = reply.headers.get('consistency-token') ?? '';
  expect(cursor).not.toBe('');
  return { ...reply, written: reply.body as Written };
};

/** Reads what was written just now. */
const read = async <Body>(path: string, { headers, ...options }: Ask = {}): Promise<Reply & { readonly body: Body }> => {
  const reply = await ask('GET', path, { ...options, headers: { 'consistency-token': cursor, ...headers } });
  return reply as Reply & { readonly body: Body };
};

const CONTENT = { title: 'On engines', body: 'An *analytical* one.', tags: ['engines', 'history'] };
let articleId: number;

describe('writing', () => {
  test('an administrator registers a user, who can be read at once', async () => {
    const body = { name: 'Grace', email: `${randomUUID()}@example.com`, role: 'author' };
    const { status, headers, written } = await write('POST', '/users', { token: people.administrator.token, body });
    expect(status).toBe(201);
    expect(new URL(headers.get('location') ?? '', installation.url).pathname).toBe(`/users/${written.id}`);
    expect((await read<User>(`/users/${written.id}`, { token: people.administrator.token })).body).toMatchObject(body);
    // Everybody else sees the name alone.
    const seen = (await read<User>(`/users/${written.id}`)).body;
    expect(seen).toMatchObject({ id: written.id, name: 'Grace' });
    expect(seen).not.toHaveProperty('email');
  });

  test('who has a token asks who they are', async () => {
    const { body } = await until(
      () => read<User>('/me', { token: ada.token }),
      ({ status }) => status === 200,
    );
    expect(body).toMatchObject({ id: ada.userId, name: 'Ada', email: ada.email, role: 'author' });
  });

  test('an author writes a draft, which nobody else sees', async () => {
    const { status, headers, written } = await write('POST', '/articles', { token: ada.token, body: CONTENT });
    articleId = written.id;
    expect([status, written.version]).toEqual([201, 1]);
    expect(headers.get('etag')).toMatch(/^(W\/)?"1-/);
    expect((await read<Article>(`/articles/${articleId}`, { token: ada.token })).body).toMatchObject({ ...CONTENT, status: 'draft' });
    expect((await read(`/articles/${articleId}`)).status).toBe(404);
    expect((await read(`/articles/${articleId}`, { token: rita.token })).status).toBe(404);
  });

  test('the same request with the same key is the same article', async () => {
    const options = { token: ada.token, body: { ...CONTENT, title: 'Once' }, headers: { 'idempotency-key': randomUUID() } };
    const [first, again] = [await write('POST', '/articles', options), await write('POST', '/articles', options)];
    expect(again.written.id).toBe(first.written.id);
    await write('DELETE', `/articles/${first.written.id}`, { token: ada.token });
    expect((await read(`/articles/${first.written.id}`, { token: ada.token })).status).toBe(404);
  });

  test('links lead on: publish, then comment, and a link is there only for whom it is', async () => {
    const { body: draft } = await read<Article>(`/articles/${articleId}`, { token: ada.token });
    const { publish } = draft._links;
    expect(publish).toMatchObject({ method: 'POST' });
    await write(publish?.method ?? '', publish?.href ?? '', { token: ada.token });
    const { body: published } = await read<Article>(`/articles/${articleId}`, { token: rita.token });
    expect(published).toMatchObject({ status: 'published', author: { id: ada.userId, name: 'Ada' } });
    expect(Object.keys(published._links)).not.toEqual(expect.arrayContaining(['edit']));
    const { comment } = published._links;
    await write(comment?.method ?? '', comment?.href ?? '', { token: rita.token, body: { text: 'Well said.' } });
    const { body: comments } = await read<Comment[]>(published._links.comments?.href ?? '');
    expect(comments).toMatchObject([{ text: 'Well said.', articleId, author: { id: rita.userId, name: 'Rita' } }]);
  });

  test('an article changes by merge patch, by JSON patch, and as a whole, each against the version that was read', async () => {
    const path = `/articles/${articleId}`;
    const stale = (await read(path, { token: ada.token })).headers.get('etag') ?? '';
    const merge = { token: ada.token, body: { title: 'On machines' }, type: 'application/merge-patch+json' };
    await write('PATCH', path, { ...merge, headers: { 'if-match': stale } });
    expect(await ask('PATCH', path, { ...merge, headers: { 'if-match': stale } })).toMatchObject({
      status: 412,
      body: { code: 'version_mismatch' },
    });
    const patch = [{ op: 'add', path: '/tags/-', value: 'machines' }];
    await write('PATCH', path, { token: ada.token, body: patch, type: 'application/json-patch+json' });
    const { body: whole, headers } = await read<Article>(path, { token: ada.token });
    expect(whole).toMatchObject({ title: 'On machines', tags: ['engines', 'history', 'machines'] });
    const etag = headers.get('etag') ?? '';
    await write('PUT', path, { token: ada.token, body: { ...whole, body: 'Two of them.' }, headers: { 'if-match': etag } });
    expect((await read<Article>(path)).body).toMatchObject({ title: 'On machines', body: 'Two of them.' });
  });
});

describe('reading', () => {
  test('what is known already is not sent again', async () => {
    const first = await read(`/articles/${articleId}`);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^(W\/)?"\d+-[\w-]+"$/);
    const again = await read(`/articles/${articleId}`, { headers: { 'if-none-match': etag } });
    expect([again.status, again.body]).toEqual([304, '']);
    const head = await ask('HEAD', `/articles/${articleId}`);
    expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', etag]);
  });

  test('a list is walked by its links to the end, and everything comes once', async () => {
    const titles = ['One', 'Two', 'Three', 'Four', 'Five'];
    for (const title of titles)
      await write('POST', '/articles', { token: ada.token, body: { ...CONTENT, title, tags: ['walk'], publish: true } });
    const seen: string[] = [];
    let path: string | undefined = '/articles?tag=walk&limit=2&sort=createdAt';
    while (path !== undefined) {
      const { status, headers, body }: Reply & { body: Article[] } = await read<Article[]>(path);
      expect(status).toBe(200);
      seen.push(...body.map(({ title }) => title));
      path = /<([^>]+)>; rel="?next"?/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(titles);
    const hal = await read<{ _embedded: { items: Article[] } }>('/articles?tag=walk', { headers: { accept: 'application/hal+json' } });
    expect(hal.body._embedded.items.map(({ title }) => title)).toEqual(titles.toReversed());
  });

  test('lists are filtered by author, status, and words', async () => {
    const found = async (query: string, token?: string) =>
      (await read<Article[]>(`/articles?${query}`, { token })).body.map(({ id }) => id);
    expect(await found('q=machines')).toContain(articleId);
    expect(await found('q=machines%20-two')).not.toContain(articleId);
    expect(await found(`author=${ada.userId}`)).toContain(articleId);
    expect(await found(`author=${rita.userId}`)).toEqual([]);
    expect(await found('status=draft')).toEqual([]);
    const ofAda = (await read<Article[]>(`/users/${ada.userId}/articles`)).body;
    expect(ofAda.map(({ id }) => id)).toContain(articleId);
  });

  test('the same is there under /api, and its links are the same', async () => {
    const [plain, prefixed] = await Promise.all([read(`/articles/${articleId}`), read(`/api/articles/${articleId}`)]);
    expect(prefixed).toMatchObject({ status: 200, body: plain.body as object });
  });

  test('a path says which methods it takes', async () => {
    const options = await ask('OPTIONS', `/articles/${articleId}`);
    expect(options.status).toBe(204);
    expect(options.headers.get('allow')?.split(', ').toSorted()).toEqual(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT']);
    expect(options.headers.get('accept-patch')).toContain('application/merge-patch+json');
    for (const [method, path] of [
      ['DELETE', '/articles'],
      ['POST', '/me'],
      ['PUT', `/articles/${articleId}/publish`],
    ] as const) {
      const refused = await ask(method, path, { token: ada.token });
      expect([method, path, refused.status]).toEqual([method, path, 405]);
      expect(refused.body).toMatchObject({ code: 'method_not_allowed' });
      expect(refused.headers.get('allow')).toBeTruthy();
    }
    expect(await ask('GET', '/nowhere')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test('a web page of another origin may ask, and see what matters', async () => {
    const asked = {
      origin: 'https://app.example',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization',
    };
    const preflight = await ask('OPTIONS', `/articles/${articleId}`, { headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
    const { headers } = await read(`/articles/${articleId}`, { headers: { origin: 'https://app.example' } });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('ETag');
  });
});

describe('deleting', () => {
  const comment = async (id: number) =>
    (await write('POST', `/articles/${id}/comments`, { token: rita.token, body: { text: 'Gone soon.' } })).written.id;

  test('an article takes its comments with it', async () => {
    const made = await write('POST', '/articles', { token: ada.token, body: { ...CONTENT, publish: true } });
    const commentId = await comment(made.written.id);
    expect((await read(`/comments/${commentId}`)).status).toBe(200);
    expect((await write('DELETE', `/articles/${made.written.id}`, { token: ada.token })).status).toBe(204);
    expect((await read(`/articles/${made.written.id}`)).status).toBe(404);
    await until(
      () => ask('GET', `/comments/${commentId}`),
      ({ status }) => status === 404,
    );
  });

  test('a user leaves what was published, without a name, and takes the drafts along', async () => {
    const draft = (await write('POST', '/articles', { token: ada.token, body: CONTENT })).written.id;
    const commentId = await comment(articleId);
    expect((await write('DELETE', `/users/${ada.userId}`, { token: ada.token })).status).toBe(204);
    expect((await read(`/users/${ada.userId}`)).status).toBe(404);
    expect((await read<Article>(`/articles/${articleId}`)).body.author).toEqual({ id: ada.userId, name: 'Deleted user' });
    await until(
      () => ask('GET', `/articles/${draft}`, { token: people.administrator.token }),
      ({ status }) => status === 404,
    );
    expect((await write('DELETE', `/users/${rita.userId}`, { token: rita.token })).status).toBe(204);
    expect((await read<Comment>(`/comments/${commentId}`)).body).toMatchObject({ text: '[deleted]', author: { name: 'Deleted user' } });
  });
});
