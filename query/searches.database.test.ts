import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Asker, type Backend, openBackend } from '../test/engines/backend.ts';
import { until } from '../testing/until.ts';

let world: Backend;
let author: Asker;
beforeAll(async () => {
  world = await openBackend();
  author = await world.person('author');
  const post = (title: string) =>
    world.ask('/articles', {
      method: 'POST',
      by: author,
      body: { title, body: 'the mill', tags: [], publish: true },
    });
  await post('Café'.normalize('NFD'));
  await post('Loom'.normalize('NFC'));
  await post('Über'.normalize('NFC'));
});
afterAll(() => world?.[Symbol.asyncDispose]());

const rest = (q: string, path = '/articles') => world.ask(`${path}?${new URLSearchParams({ q })}`);

type Answer = {
  readonly data?: { readonly posts: readonly { title: string }[] };
  readonly errors?: readonly { extensions: object }[];
};
const graphql = async (query: string, variables: object): Promise<Answer> =>
  (await world.ask('/graphql', { method: 'POST', body: { query, variables } })).body as Answer;

const POSTS = 'query ($q: String) { posts(filter: { search: $q }) { title } }';
const CONNECTION =
  'query ($q: String) { postsConnection(filter: { search: $q }) { nodes { title } totalCount } }';

describe.each(['-the', '-"the mill"', 'the or -loom', '!!!', ' ', '-the -loom'])(
  'what no index can answer is refused: %j',
  (q) => {
    test('over REST', async () => {
      const refused = {
        code: 'invalid_parameter',
        errors: [{ parameter: 'q', detail: expect.stringContaining('words that are there') }],
      };
      expect(await rest(q)).toMatchObject({ status: 400, body: refused });
      expect(await rest(q, `/users/${author.id}/articles`)).toMatchObject({ status: 400, body: refused });
    });

    test.each([POSTS, CONNECTION])('over GraphQL: %s', async (query) => {
      const { data, errors } = await graphql(query, { q });
      expect(data ?? null).toBeNull();
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining('words that are there'),
          extensions: { code: 'invalid_parameter' },
        },
      ]);
    });
  },
);

describe('words are found in any case and with any accents', () => {
  test.each(['Café', 'über', 'cafe\u0301'].flatMap((word) => [word.normalize('NFC'), word.normalize('NFD')]))(
    '%j',
    async (q) => {
      const found = (await rest(q)).body as { title: string }[];
      expect(found.map(({ title }) => title.normalize('NFC').toLowerCase())).toEqual([
        q.normalize('NFC').toLowerCase(),
      ]);
      expect((await graphql(POSTS, { q })).data?.posts).toEqual(found.map(({ title }) => ({ title })));
    },
  );

  test('and the other filters apply', async () => {
    expect((await rest('mill -loom')).body).toHaveLength(2);
    expect((await rest('"the mill" loom')).body).toHaveLength(1);
  });
});

test('many endless searches delay no other read, and time out', async () => {
  await rest('mill');
  const connection = await world.side.pool.connect();
  try {
    await connection.query('begin; lock table read_model.articles in access exclusive mode');
    const ended: number[] = [];
    const searches = Array.from({ length: 24 }, async (_, each) => {
      if (each % 2 === 0) return ended.push((await rest('mill')).status);
      return ended.push(
        (await world.ask('/graphql', { method: 'POST', body: { query: POSTS, variables: { q: 'mill' } } }))
          .status,
      );
    });
    await until(
      () =>
        world.side.pool.query(
          `select from pg_stat_activity where application_name = 'annals-search' and wait_event_type = 'Lock'`,
        ),
      ({ rowCount }) => rowCount === 2,
    );
    expect((await world.ask('/users')).status).toBe(200);
    expect(await graphql('{ users { id } }', {})).toMatchObject({ data: { users: expect.any(Array) } });
    await Promise.all(searches);
    expect(new Set(ended)).toEqual(new Set([503]));
  } finally {
    await connection.query('rollback');
    connection.release();
  }
  expect((await rest('mill')).status).toBe(200);
});
