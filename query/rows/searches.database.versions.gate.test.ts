import { describe, expect } from 'vitest';
import { type Backend, test } from '../../test/engines/backend.ts';
import { until } from '../../testing/until.ts';

test.beforeAll(async ({ author, backend }) => {
  const post = (title: string) =>
    backend.ask('/articles', {
      method: 'POST',
      by: author,
      body: { title, body: 'the mill', tags: [], publish: true },
    });
  await post('Café'.normalize('NFD'));
  await post('Loom'.normalize('NFC'));
  await post('Über'.normalize('NFC'));
});
const rest = (backend: Backend, q: string, path = '/articles') =>
  backend.ask(`${path}?${new URLSearchParams({ q })}`);

type Answer = {
  readonly data?: { readonly posts: readonly { title: string }[] };
  readonly errors?: readonly { extensions: object }[];
};
const graphql = async (backend: Backend, query: string, variables: object): Promise<Answer> =>
  (await backend.ask('/graphql', { method: 'POST', body: { query, variables } })).body as Answer;

const POSTS = 'query ($q: String) { posts(filter: { search: $q }) { title } }';
const CONNECTION =
  'query ($q: String) { postsConnection(filter: { search: $q }) { nodes { title } totalCount } }';

describe.each(['-the', '-"the mill"', 'the or -loom', '!!!', ' ', '-the -loom'])(
  'what no index can answer is refused: %j',
  (q) => {
    test('over REST', async ({ author, backend }) => {
      const refused = {
        code: 'invalid_parameter',
        errors: [{ parameter: 'q', detail: expect.stringContaining('one word or phrase') }],
      };
      expect(await rest(backend, q)).toMatchObject({ status: 400, body: refused });
      expect(await rest(backend, q, `/users/${author.id}/articles`)).toMatchObject({
        status: 400,
        body: refused,
      });
    });

    test.for([POSTS, CONNECTION])('over GraphQL: %s', async (query, { backend }) => {
      const { data, errors } = await graphql(backend, query, { q });
      expect(data ?? null).toBeNull();
      expect(errors).toMatchObject([
        {
          message: expect.stringContaining('one word or phrase'),
          extensions: { code: 'invalid_parameter' },
        },
      ]);
    });
  },
);

describe('words are found in any case and with any accents', () => {
  test.for(['Café', 'über', 'cafe\u0301'].flatMap((word) => [word.normalize('NFC'), word.normalize('NFD')]))(
    '%j',
    async (q, { backend }) => {
      const found = (await rest(backend, q)).body as { title: string }[];
      expect(found.map(({ title }) => title.normalize('NFC').toLowerCase())).toEqual([
        q.normalize('NFC').toLowerCase(),
      ]);
      expect((await graphql(backend, POSTS, { q })).data?.posts).toEqual(
        found.map(({ title }) => ({ title })),
      );
    },
  );

  test('and the other filters apply', async ({ backend }) => {
    expect((await rest(backend, 'mill -loom')).body).toHaveLength(2);
    expect((await rest(backend, '"the mill" loom')).body).toHaveLength(1);
  });
});

test('many endless searches delay no other read, and time out', async ({ backend }) => {
  await rest(backend, 'mill');
  const connection = await backend.side.pool.connect();
  try {
    await connection.query('begin; lock table read_model.articles in access exclusive mode');
    const ended: number[] = [];
    const searches = Array.from({ length: 24 }, async (_, each) => {
      if (each % 2 === 0) return ended.push((await rest(backend, 'mill')).status);
      return ended.push(
        (await backend.ask('/graphql', { method: 'POST', body: { query: POSTS, variables: { q: 'mill' } } }))
          .status,
      );
    });
    await until(
      () =>
        backend.side.pool.query(
          `select from pg_stat_activity where application_name = 'annals-search' and wait_event_type = 'Lock'`,
        ),
      ({ rowCount }) => rowCount === 2,
    );
    expect((await backend.ask('/users')).status).toBe(200);
    expect(await graphql(backend, '{ users { id } }', {})).toMatchObject({
      data: { users: expect.any(Array) },
    });
    await Promise.all(searches);
    expect(new Set(ended)).toEqual(new Set([503]));
  } finally {
    await connection.query('rollback');
    connection.release();
  }
  expect((await rest(backend, 'mill')).status).toBe(200);
});
