// Over 200 lines, because each test runs one planner, over rows that are set up here.
import { expect } from 'vitest';
import type { Caller } from '#shared/policy.ts';
import { callerIn, POLICY } from '../../../test/engines/policy.ts';
import { ANONYMOUS, test as base, operationOf } from '../../../test/graphql/planned.ts';
import { writeRows } from '../../../test/graphql/read-model-rows.ts';
import { scaled } from '../../../testing/load.ts';

const AT = new Date(1_700_000_000_000);
const stamps = { version: 1, created_at: AT, updated_at: AT };
const user = (id: number) => ({
  id,
  name: `User ${id}`,
  email: `${id}@example.com`,
  role: 'author',
  deleted_at: null,
  ...stamps,
});
const post = (id: number, author_id: number) => ({
  id,
  author_id,
  title: 'T',
  body: 'B',
  tags: [],
  cover: null,
  ...stamps,
});
const users = Array.from({ length: 50 }, (_, index) => user(1 + index));

const articles = [
  { ...post(101, 1), status: 'draft' as const, published_at: null },
  { ...post(102, 1), status: 'published' as const, published_at: AT },
];
const author = (userId: number) => callerIn(POLICY, { userId, role: 'author' });

const it = base.extend(
  'countStatements',
  { scope: 'file' },
  ({ pool }) =>
    async (work: () => Promise<unknown>): Promise<number> => {
      let count = 0;
      const add = () => {
        count += 1;
      };
      pool.on('acquire', add);
      await work();
      pool.off('acquire', add);
      return count;
    },
);
it.beforeEach(async ({ pool }) => {
  await pool.query('truncate read_model.parked');
  await writeRows(pool, { users, articles, comments: [] });
});

it('reads by id for concurrent requests with one statement, and answers each with its own', async ({
  countStatements,
  planner,
}) => {
  const operation = operationOf('query ($id: ID!) { user(id: $id) { id name } }');
  const ids = [...users.map(({ id }) => String(id)), '999', 'no id'];
  const read = (id: string) => planner.plan({ ...operation, variables: { id }, caller: ANONYMOUS });
  let answers: readonly (string | undefined)[] = [];
  const count = await countStatements(async () => {
    answers = await Promise.all(ids.map(read));
  });
  expect(count).toBe(1);
  expect(answers.slice(0, 2)).toEqual([
    '{"user":{"id":"1","name":"User 1"}}',
    '{"user":{"id":"2","name":"User 2"}}',
  ]);
  expect(answers.slice(-2)).toEqual(['{"user":null}', '{"user":null}']);
});

it('reads a query of several levels with one statement, whose JSON is the answer', async ({
  countStatements,
  planner,
}) => {
  const operation = operationOf('{ me { id } posts { id author { id name posts { id author { id } } } } }');
  let answer: string | undefined;
  const read = async () => {
    answer = await planner.plan({ ...operation, variables: {}, caller: author(1) });
  };
  expect(await countStatements(read)).toBe(1);
  expect(JSON.parse(answer ?? '')).toMatchObject({
    me: { id: '1' },
    posts: [
      { id: '102', author: { id: '1', posts: [{ id: '102', author: { id: '1' } }, { id: '101' }] } },
      { id: '101' },
    ],
  });
});

it('shares one answer among equal concurrent reads, of which the first may be read at once', async ({
  countStatements,
  planner,
}) => {
  const operation = operationOf('{ users(limit: 1) { id } }');
  const read = () => planner.plan({ ...operation, variables: {}, caller: ANONYMOUS });
  expect(await countStatements(() => Promise.all(Array.from({ length: 20 }, read)))).toBeLessThanOrEqual(2);
});

it('never shares an answer between callers with different rights', async ({ planner }) => {
  const operation = operationOf('{ posts { id } me { id } }');
  const read = (caller: Caller) => planner.plan({ ...operation, variables: {}, caller });
  const [ofNobody, ofAuthor, ofOther] = await Promise.all([
    read(ANONYMOUS),
    read(author(1)),
    read(author(2)),
    read(ANONYMOUS),
  ]);
  expect(ofNobody).toBe('{"posts":[{"id":"102"}],"me":null}');
  expect(ofAuthor).toBe('{"posts":[{"id":"102"},{"id":"101"}],"me":{"id":"1"}}');
  expect(ofOther).toBe('{"posts":[{"id":"102"}],"me":{"id":"2"}}');
});

it('leaves to the resolvers what it does not support', async ({ plan }) => {
  expect(await plan('{ __schema { queryType { name } } }')).toBeUndefined();
  expect(await plan('mutation { deletePost(id: 1) }')).toBeUndefined();
  expect(
    await plan('query ($limit: Int!) { users(limit: $limit) { id } }', ANONYMOUS, { limit: 'many' }),
  ).toBeUndefined();
  expect(await plan('{ users(limit: 101) { id } }')).toBeUndefined();
  expect(await plan('{ usersConnection(first: 1, last: 1) { totalCount } }')).toBeUndefined();
  expect(await plan('{ posts(filter: { search: "\\u0000" }) { id } }')).toBeUndefined();
});

it('leaves a null in a non-null position to the resolvers, which fail only its field', async ({
  plan,
  resolve,
}) => {
  const byId = 'query ($id: ID = 1) { user(id: $id) { id } }';
  expect(await plan(byId)).toBe('{"user":{"id":"1"}}');
  expect(await plan(byId, ANONYMOUS, { id: null })).toBeUndefined();
  const included = 'query ($is: Boolean = true) { users @include(if: $is) { id } }';
  expect(await plan(included, ANONYMOUS, { is: null })).toBeUndefined();
  const { document, operation } = operationOf(byId);
  const { data, errors } = await resolve({
    document,
    operation,
    variables: { id: null },
    caller: ANONYMOUS,
  });
  expect([data, errors?.map(({ path }) => path)]).toEqual([{ user: null }, [['user']]]);
});

it('refuses to compile a long statement from multiplying fragments, even if they cost nothing', async ({
  plan,
}) => {
  const levels = Array.from({ length: 10 }, (_, index) => index);
  const fragments = levels.map(
    (level) =>
      `fragment F${level} on User { posts(limit: 0) { author { ...F${level + 1} } comments(limit: 0) { author { ...F${level + 1} } } } }`,
  );
  const text = `{ users(limit: 0) { ...F0 } } ${fragments.join(' ')} fragment F10 on User { id }`;
  const startedMs = performance.now();
  expect(await plan(text)).toBeUndefined();
  expect(performance.now() - startedMs).toBeLessThan(scaled(1_000));
});

it('leaves everything to the resolvers while an aggregate is parked', async ({ plan, pool }) => {
  expect(await plan('{ user(id: 1) { id } }')).toBe('{"user":{"id":"1"}}');
  await pool.query(
    `insert into read_model.parked (stream, version, position, type, reason) values ('user-7', 1, 1, 'x', 'y')`,
  );
  expect(await plan('{ user(id: 1) { id } }')).toBeUndefined();
  expect(await plan('{ users { id } }')).toBeUndefined();
});

it('leaves missing required values to the resolvers, which report them', async ({ plan, pool }) => {
  await pool.query('delete from read_model.users where id = 1');
  expect(await plan('{ post(id: 102) { id author { name } } }')).toBeUndefined();
  expect(await plan('{ post(id: 102) { id } }')).toBe('{"post":{"id":"102"}}');
});

it('accepts any alias', async ({ plan }) => {
  expect(await plan('{ __proto__: user(id: 1) { constructor: id toString: name } }')).toBe(
    '{"__proto__":{"constructor":"1","toString":"User 1"}}',
  );
});

it('keeps at most some hundreds of prepared statements, and only repeated ones', async ({
  planner,
  pool,
}) => {
  const prepared = async () =>
    Number((await pool.query('select count(*) from pg_prepared_statements')).rows[0].count);
  const texts = Array.from({ length: 300 }, (_, index) => operationOf(`{ _${index}: __typename }`));
  const run = (operation: (typeof texts)[number]) =>
    planner.plan({ ...operation, variables: {}, caller: ANONYMOUS });
  const before = await prepared();
  for (const operation of texts) await run(operation);
  expect(await prepared()).toBe(before);
  for (const operation of texts) await run(operation);
  expect(await prepared()).toBeLessThanOrEqual(256);
});

it(
  'keeps few long prepared statements',
  async ({ planner, pool }) => {
    const prepared = async () => {
      const { rows } = await pool.query(
        'select coalesce(sum(length(statement)), 0)::integer as characters from pg_prepared_statements',
      );
      return (rows[0] as { characters: number }).characters;
    };
    const posts = Array.from(
      { length: 12 },
      (_, index) => `p${index}: posts(limit: 0) { id author { name posts(limit: 0) { title } } }`,
    );
    const texts = Array.from({ length: 24 }, (_, index) =>
      operationOf(`{ _${index}: __typename ${posts.join(' ')} }`),
    );
    for (const operation of [...texts, ...texts]) {
      await planner.plan({ ...operation, variables: {}, caller: ANONYMOUS });
      expect(await prepared()).toBeLessThan(550_000);
    }
  },
  scaled(30_000),
);
