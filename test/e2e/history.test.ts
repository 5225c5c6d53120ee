import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HistoryEntry } from '#shared/rest/history.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { type RestSession, restSessionOver } from '../../testing/http/rest-session.ts';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { type Installation, shareInstallation } from '../engines/installation.ts';
import type { Article } from '../engines/representations.ts';

/** The questions of an auditor, only by HTTP. The tests depend on each other. */
let installation: Installation;
let people: People;
let read: RestSession['read'];
let write: RestSession['write'];
let ada: Person;
let articleId: number;

beforeAll(async () => {
  installation = await shareInstallation();
  people = await openPeople(installation);
  ({ read, write } = restSessionOver(restClientOf(installation)));
  ada = await people.signUp('Ada');
});
afterAll(() => installation?.[Symbol.asyncDispose]());

test('the changes of an article are shown with their authors, and with links to earlier versions', async () => {
  const { token } = ada;
  articleId = (
    await write('POST', '/articles', {
      token,
      body: { title: 'On engines', body: '', tags: [], publish: true },
    })
  ).written.id;
  await write('PATCH', `/articles/${articleId}`, {
    token: people.administrator.token,
    body: { title: 'On looms' },
  });
  const { body } = await read<HistoryEntry[]>(`/articles/${articleId}/history`, { token });
  expect(body.map(({ version, type }) => [version, type])).toEqual([
    [3, 'article.edited'],
    [2, 'article.published'],
    [1, 'article.drafted'],
  ]);
  expect(body[0]).toMatchObject({ changes: [{ field: 'title', from: 'On engines', to: 'On looms' }] });
  // The request of another user is not public.
  expect([body[0]?.request, body[1]?.request]).toEqual([undefined, expect.any(String)]);
  const was = await read<Article>(body[1]?._links.self?.href ?? '');
  expect([was.body.title, was.headers.get('as-of')]).toEqual(['On engines', body[1]?.cursor]);
});

test('a deleted item can be read at an earlier time, by administrators', async () => {
  const { body: before } = await read<HistoryEntry[]>(`/articles/${articleId}/history`, { token: ada.token });
  await write('DELETE', `/articles/${articleId}`, { token: ada.token });
  const path = `/articles/${articleId}?at=${before[0]?.at}`;
  expect((await read(path, { token: ada.token })).status).toBe(404);
  expect((await read<Article>(path, { token: people.administrator.token })).body).toMatchObject({
    title: 'On looms',
  });
  const listed = await read<Article[]>(`/articles?at=${before[0]?.cursor}`, {
    token: people.administrator.token,
  });
  expect(listed.body.map(({ id }) => id)).toContain(articleId);
});

test('GraphQL shows the same', async () => {
  const query = `{ post(id: ${articleId}, at: "v3") { title author { name } history { nodes { version type actor } } } }`;
  const { body } = await restClientOf(installation)('POST', '/graphql', {
    token: people.administrator.token,
    body: { query },
  });
  expect(body).toMatchObject({
    data: {
      post: {
        title: 'On looms',
        author: { name: 'Ada' },
        history: {
          nodes: [
            { version: 3, actor: `user:${people.administrator.userId}` },
            { version: 2 },
            { version: 1 },
          ],
        },
      },
    },
  });
});

test('a long history is complete, page by page, with links to the article after each event', async () => {
  const edits = 600;
  const { token } = await people.signUp('Grace');
  const made = await write('POST', '/articles', {
    token,
    body: { title: 'Title 1', body: 'Kept', tags: [], publish: false },
  });
  const path = `/articles/${made.written.id}`;
  for (let version = 2; version <= edits; version += 1)
    await write('PATCH', path, { token, body: { title: `Title ${version}` } });
  const entries: HistoryEntry[] = [];
  for (let next: string | undefined = `${path}/history?limit=100`; next !== undefined; ) {
    const page: Awaited<ReturnType<typeof read<HistoryEntry[]>>> = await read<HistoryEntry[]>(next, {
      token,
    });
    entries.push(...page.body);
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  expect(entries.map(({ version }) => version)).toEqual(
    Array.from({ length: edits }, (_, index) => edits - index),
  );
  const from = (version: number) => [
    { field: 'title', from: `Title ${version - 1}`, to: `Title ${version}` },
  ];
  for (const { version, changes } of entries) if (version > 1) expect(changes).toEqual(from(version));
  for (const version of [1, 200, 512, 513, 599]) {
    const was = await read<Article>(`${path}?at=v${version}`, { token });
    expect([was.status, was.body.title, was.body.body]).toEqual([200, `Title ${version}`, 'Kept']);
  }
});
