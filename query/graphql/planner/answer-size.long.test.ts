import { expect } from 'vitest';
import { ANONYMOUS, test as it, operationOf } from '../../../test/graphql/planned.ts';
import { writeRows } from '../../../test/graphql/read-model-rows.ts';
import { Refused } from '../documents/run.ts';

const stamps = { version: 1, created_at: new Date(0), updated_at: new Date(0) };
const users = [{ id: 1, name: 'Ada', email: null, role: 'author', deleted_at: null, ...stamps }];
const article = {
  ...{ author_id: 1, title: 'T', body: 'x'.repeat(200_000), tags: [], cover: null },
  ...{ status: 'published' as const, published_at: new Date(0), ...stamps },
};
const comment = { article_id: 101, author_id: 1, text: 'C', ...stamps };
const articles = Array.from({ length: 90 }, (_, index) => ({ id: 101 + index, ...article }));
const comments = Array.from({ length: 90 }, (_, index) => ({ id: 301 + index, ...comment }));

it.beforeAll(({ pool }) => writeRows(pool, { users, articles, comments }));

it.for([
  ['many long texts', 'posts(limit: 90) { body }'],
  ['one long text many times', 'post(id: 101) { comments(limit: 90) { post { body } } }'],
  ['few texts under many names', '_: posts(limit: 45) { body } __: posts(limit: 45) { body }'],
])(
  'refuses an answer of %s, by the planner and by the resolvers',
  async ([, fields], { planner, resolve }) => {
    const read = { ...operationOf(`{ ${fields} }`), variables: {}, caller: ANONYMOUS };
    const refusal = await planner.plan(read).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Refused);
    expect(refusal).toMatchObject({
      errors: [{ extensions: { code: 'answer_too_large', max: 16_777_216 } }],
    });
    const { data, errors } = await resolve(read);
    expect(JSON.stringify(data).length).toBeLessThan(16_800_000);
    expect(errors).toMatchObject([{ extensions: { code: 'answer_too_large', max: 16_777_216 } }]);
  },
);

it('returns a large answer within the limit', async ({ planner, resolve }) => {
  const read = { ...operationOf('{ posts(limit: 80) { body } }'), variables: {}, caller: ANONYMOUS };
  const data = await planner.plan(read);
  expect(data?.length).toBeGreaterThan(16_000_000);
  expect(JSON.stringify((await resolve(read)).data)).toBe(data);
});

it('refuses only the point read that is too large, not those in the same statement', async ({ planner }) => {
  const operation = operationOf(
    'query ($id: ID!) { post(id: $id) { comments(limit: 90) { post { body } } } }',
  );
  const read = (id: number) => planner.plan({ ...operation, variables: { id }, caller: ANONYMOUS });
  const [large, small] = await Promise.allSettled([read(101), read(102)]);
  expect([large.status, small]).toEqual([
    'rejected',
    { status: 'fulfilled', value: '{"post":{"comments":[]}}' },
  ]);
});
