import { describe, expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { type Asker, type Backend, test } from '../test/engines/backend.ts';
import { addComment, draftArticle } from '../test/engines/command-side.ts';
import { linkIn } from '../test/links.ts';
import type { ArticleId } from '../test/publishing-ids.ts';

let articleId: ArticleId;
let commentId: number;
let paths: readonly string[];
let lists: readonly string[];
test.beforeAll(async ({ author, backend }) => {
  for (let n = 0; n < 7; n += 1) articleId = await draftArticle(backend.side, author.id);
  for (let n = 0; n < 7; n += 1) commentId = await addComment(backend.side, author.id, articleId);
  for (let n = 0; n < 7; n += 1) await backend.person('reader');
  lists = ['/articles', '/users', `/users/${author.id}/articles`, `/articles/${articleId}/comments`];
  paths = [...lists, `/articles/${articleId}`, `/users/${author.id}`, `/comments/${commentId}`];
});

const cursorOf = async (backend: Backend, list: string): Promise<string> => {
  const next = linkIn((await backend.ask(list)).headers) ?? '';
  return new URL(next, backend.url).searchParams.get('after') ?? '';
};
const forged = async (backend: Backend, change: (parts: unknown[]) => unknown): Promise<string> => {
  const parts = JSON.parse(
    Buffer.from(await cursorOf(backend, '/articles?limit=2'), 'base64url').toString(),
  ) as unknown[];
  return Buffer.from(JSON.stringify(change(parts))).toString('base64url');
};

describe('bad input', () => {
  test.for([
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['limit[]=1', 'limit[]'],
    ['sort=title', 'sort'],
    ['sort=__proto__', 'sort'],
    ['after=', 'after'],
    [`after=${'x'.repeat(401)}`, 'after'],
    ['after=x&before=x', 'before'],
    ['unknown=1', 'unknown'],
    ['__proto__=1', '__proto__'],
    ['=1', ''],
  ])('a list with ?%s is refused by the parameter', async ([query, parameter], { backend }) => {
    for (const list of lists) {
      const { status, headers, body } = await backend.ask(`${list}?${query}`);
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter', errors: [{ parameter }] },
      });
      expect(headers.get('content-type')).toContain('application/problem+json');
    }
  });

  test.for([
    'status=deleted',
    'tag=Not+a+tag',
    'tag=',
    'q=',
    `q=${'x'.repeat(201)}`,
    'q=%00',
    'author=0',
    'author=x',
    'author=9007199254740992',
  ])('articles with ?%s are refused by the parameter', async (query, { backend }) => {
    const answer = await backend.ask(`/articles?${query}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', errors: [{ parameter: query.split('=')[0] }] },
    });
  });

  test('an item accepts no query parameters', async ({ backend }) => {
    for (const path of paths.filter((each) => !lists.includes(each)))
      expect(await backend.ask(`${path}?fields=id`)).toMatchObject({
        status: 400,
        body: { errors: [{ parameter: 'fields' }] },
      });
  });

  test.for<[string, (from: { backend: Backend; author: Asker }) => Promise<string>]>([
    ['nonsense', async () => 'x'],
    ['beyond base64', async () => '%F0%9F%90%91'],
    [
      'a write’s cursor',
      async ({ backend }) => formatCursor(backend.side.eventLog.identity, await backend.side.eventLog.head()),
    ],
    ['of another order', ({ backend }) => cursorOf(backend, '/articles?limit=2&sort=createdAt')],
    ['of another filter', ({ backend }) => cursorOf(backend, '/articles?limit=2&status=published')],
    ['of another list', ({ backend }) => cursorOf(backend, '/users?limit=2')],
    [
      'of the same articles elsewhere',
      ({ backend, author }) => cursorOf(backend, `/users/${author.id}/articles?limit=2`),
    ],
    ['without a side', ({ backend }) => forged(backend, (parts) => parts.slice(0, 3))],
    [
      'before all time',
      ({ backend }) => forged(backend, ([identity, , ...rest]) => [identity, -1e15, ...rest]),
    ],
    [
      'after all time',
      ({ backend }) => forged(backend, ([identity, , ...rest]) => [identity, 9e15, ...rest]),
    ],
    ['of no id', ({ backend }) => forged(backend, ([identity, at, , side]) => [identity, at, 1e300, side])],
    ['of an object', ({ backend }) => forged(backend, () => ({ length: 4 }))],
  ])('a cursor that is %s is refused', async ([_, make], { author, backend }) => {
    const cursor = await make({ author, backend });
    for (const name of ['after', 'before'])
      expect(await backend.ask(`/articles?${name}=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'unknown_cursor' },
      });
  });

  test('a cursor at either end of time is valid', async ({ backend }) => {
    for (const [at, id] of [
      [0, 1],
      [253_402_300_799_999, Number.MAX_SAFE_INTEGER],
    ]) {
      for (const side of ['before', 'after']) {
        const cursor = await forged(backend, ([identity]) => [identity, at, id, side]);
        for (const name of ['after', 'before'])
          expect((await backend.ask(`/articles?${name}=${cursor}`)).status).toBe(200);
      }
    }
  });

  test.for([
    '0',
    '-1',
    '01',
    '1.0',
    '1e3',
    'x',
    '9007199254740992',
    '99999999999999999999',
    '%00',
    "'",
    '1%20',
    'null',
    '__proto__',
  ])('the id %s is nobody’s', async (id, { backend }) => {
    const before = backend.statements();
    for (const [path, code] of [
      [`/articles/${id}`, 'article_not_found'],
      [`/articles/${id}/comments`, 'article_not_found'],
      [`/users/${id}`, 'user_not_found'],
      [`/users/${id}/articles`, 'user_not_found'],
      [`/comments/${id}`, 'comment_not_found'],
    ])
      expect(
        await backend.ask(path as string, {
          headers: { 'consistency-token': formatCursor(backend.side.eventLog.identity, 0 as never) },
        }),
      ).toMatchObject({ status: 404, body: { code } });
    expect(backend.statements()).toBe(before);
  });
});
