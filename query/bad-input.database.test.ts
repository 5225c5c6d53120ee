import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatCursor } from '#shared/cursor.ts';
import { type Asker, type Backend, openBackend } from '../test/engines/backend.ts';
import { addComment, draftArticle } from '../test/engines/command-side.ts';
import type { ArticleId } from '../test/publishing-ids.ts';

let world: Backend;
let author: Asker;
let articleId: ArticleId;
let commentId: number;
let paths: readonly string[];
let lists: readonly string[];
beforeAll(async () => {
  world = await openBackend();
  author = await world.person('author');
  for (let n = 0; n < 7; n += 1) articleId = await draftArticle(world.side, author.id);
  for (let n = 0; n < 7; n += 1) commentId = await addComment(world.side, author.id, articleId);
  for (let n = 0; n < 7; n += 1) await world.person('reader');
  lists = ['/articles', '/users', `/users/${author.id}/articles`, `/articles/${articleId}/comments`];
  paths = [...lists, `/articles/${articleId}`, `/users/${author.id}`, `/comments/${commentId}`];
});
afterAll(() => world?.[Symbol.asyncDispose]());

const linkIn = (headers: Headers, rel: string) =>
  new RegExp(`<([^>]+)>; rel="${rel}"`).exec(headers.get('link') ?? '')?.[1];

const cursorOf = async (list: string): Promise<string> => {
  const next = linkIn((await world.ask(list)).headers, 'next') ?? '';
  return new URL(next, world.url).searchParams.get('after') ?? '';
};
const forged = async (change: (parts: unknown[]) => unknown): Promise<string> => {
  const parts = JSON.parse(
    Buffer.from(await cursorOf('/articles?limit=2'), 'base64url').toString(),
  ) as unknown[];
  return Buffer.from(JSON.stringify(change(parts))).toString('base64url');
};

describe('bad input', () => {
  test.each([
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
  ])('a list with ?%s is refused by the parameter', async (query, parameter) => {
    for (const list of lists) {
      const { status, headers, body } = await world.ask(`${list}?${query}`);
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter', errors: [{ parameter }] },
      });
      expect(headers.get('content-type')).toContain('application/problem+json');
    }
  });

  test.each([
    'status=deleted',
    'tag=Not+a+tag',
    'tag=',
    'q=',
    `q=${'x'.repeat(201)}`,
    'q=%00',
    'author=0',
    'author=x',
    'author=9007199254740992',
  ])('articles with ?%s are refused by the parameter', async (query) => {
    const answer = await world.ask(`/articles?${query}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', errors: [{ parameter: query.split('=')[0] }] },
    });
  });

  test('an item accepts no query parameters', async () => {
    for (const path of paths.filter((each) => !lists.includes(each)))
      expect(await world.ask(`${path}?fields=id`)).toMatchObject({
        status: 400,
        body: { errors: [{ parameter: 'fields' }] },
      });
  });

  test.each<[string, () => Promise<string>]>([
    ['nonsense', async () => 'x'],
    ['beyond base64', async () => '%F0%9F%90%91'],
    [
      'a write’s cursor',
      async () => formatCursor(world.side.eventLog.identity, await world.side.eventLog.head()),
    ],
    ['of another order', () => cursorOf('/articles?limit=2&sort=createdAt')],
    ['of another filter', () => cursorOf('/articles?limit=2&status=published')],
    ['of another list', () => cursorOf('/users?limit=2')],
    ['of the same articles elsewhere', () => cursorOf(`/users/${author.id}/articles?limit=2`)],
    ['without a side', () => forged((parts) => parts.slice(0, 3))],
    ['before all time', () => forged(([identity, , ...rest]) => [identity, -1e15, ...rest])],
    ['after all time', () => forged(([identity, , ...rest]) => [identity, 9e15, ...rest])],
    ['of no id', () => forged(([identity, at, , side]) => [identity, at, 1e300, side])],
    ['of an object', () => forged(() => ({ length: 4 }))],
  ])('a cursor that is %s is refused', async (_, make) => {
    const cursor = await make();
    for (const name of ['after', 'before'])
      expect(await world.ask(`/articles?${name}=${cursor}`)).toMatchObject({
        status: 400,
        body: { code: 'unknown_cursor' },
      });
  });

  test('a cursor at either end of time is valid', async () => {
    for (const [at, id] of [
      [0, 1],
      [253_402_300_799_999, Number.MAX_SAFE_INTEGER],
    ]) {
      for (const side of ['before', 'after']) {
        const cursor = await forged(([identity]) => [identity, at, id, side]);
        for (const name of ['after', 'before'])
          expect((await world.ask(`/articles?${name}=${cursor}`)).status).toBe(200);
      }
    }
  });

  test.each([
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
  ])('the id %s is nobody’s', async (id) => {
    const before = world.statements();
    for (const [path, code] of [
      [`/articles/${id}`, 'article_not_found'],
      [`/articles/${id}/comments`, 'article_not_found'],
      [`/users/${id}`, 'user_not_found'],
      [`/users/${id}/articles`, 'user_not_found'],
      [`/comments/${id}`, 'comment_not_found'],
    ])
      expect(
        await world.ask(path as string, {
          headers: { 'consistency-token': formatCursor(world.side.eventLog.identity, 0 as never) },
        }),
      ).toMatchObject({ status: 404, body: { code } });
    expect(world.statements()).toBe(before);
  });
});
