import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ANONYMOUS,
  openPlannedReadModel,
  operationOf,
  type PlannedReadModel,
} from '../../../test/graphql/planned.ts';
import { writeRows } from '../../../test/graphql/read-model-rows.ts';
import { resolveOver } from '../../../test/graphql/resolved.ts';
import { Refused } from '../run.ts';

let opened: PlannedReadModel;
beforeAll(async () => {
  opened = await openPlannedReadModel(1);
  const stamps = { version: 1, created_at: new Date(0), updated_at: new Date(0) };
  const users = [{ id: 1, name: 'Ada', email: null, role: 'author', deleted_at: null, ...stamps }];
  const post = {
    author_id: 1,
    title: 'T',
    tags: [],
    cover: null,
    status: 'published' as const,
    published_at: new Date(0),
    ...stamps,
  };
  const articles = Array.from({ length: 90 }, (_, index) => ({
    id: 101 + index,
    body: 'x'.repeat(200_000),
    ...post,
  }));
  const comments = Array.from({ length: 90 }, (_, index) => ({
    id: 301 + index,
    article_id: 101,
    author_id: 1,
    text: 'C',
    ...stamps,
  }));
  await writeRows(opened.pool, { users, articles, comments });
});
afterAll(() => opened?.[Symbol.asyncDispose]());

it.each([
  ['many long texts', 'posts(limit: 90) { body }'],
  ['one long text many times', 'post(id: 101) { comments(limit: 90) { post { body } } }'],
  ['few texts under many names', '_: posts(limit: 45) { body } __: posts(limit: 45) { body }'],
])('refuses an answer of %s, by the planner and by the resolvers', async (_, fields) => {
  const read = { ...operationOf(`{ ${fields} }`), variables: {}, caller: ANONYMOUS };
  const refusal = await opened.planner.plan(read).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(Refused);
  expect(refusal).toMatchObject({ errors: [{ extensions: { code: 'answer_too_large', max: 16_777_216 } }] });
  const { data, errors } = await resolveOver(opened.pool)(read);
  expect(JSON.stringify(data).length).toBeLessThan(16_800_000);
  expect(errors).toMatchObject([{ extensions: { code: 'answer_too_large', max: 16_777_216 } }]);
});

it('returns a large answer within the limit', async () => {
  const read = { ...operationOf('{ posts(limit: 80) { body } }'), variables: {}, caller: ANONYMOUS };
  const data = await opened.planner.plan(read);
  expect(data?.length).toBeGreaterThan(16_000_000);
  expect(JSON.stringify((await resolveOver(opened.pool)(read)).data)).toBe(data);
});

it('refuses only the point read that is too large, not those in the same statement', async () => {
  const operation = operationOf(
    'query ($id: ID!) { post(id: $id) { comments(limit: 90) { post { body } } } }',
  );
  const read = (id: number) => opened.planner.plan({ ...operation, variables: { id }, caller: ANONYMOUS });
  const [large, small] = await Promise.allSettled([read(101), read(102)]);
  expect([large.status, small]).toEqual([
    'rejected',
    { status: 'fulfilled', value: '{"post":{"comments":[]}}' },
  ]);
});
