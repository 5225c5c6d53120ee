import { expect } from 'vitest';
import { plans } from './plans.ts';
import { test as base } from './toy-fixture.ts';

/** The items of a list that has an order of its own, sorted by a time that some of them lack. */
type Task = { readonly id: number; readonly title: string };

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: plans } })
  .extend('filled', { scope: 'file' }, async ({ people, session: { write } }) => {
    const { token } = await people.signUp('Paula');
    const { id } = (await write('POST', '/plans', { token, body: { title: 'Move house' } })).written;
    const path = `/plans/${id}`;
    for (const title of ['one', 'two', 'three', 'four'])
      await write('POST', `${path}/tasks`, { token, body: { title } });
    const finish = (task: number) => write('POST', `${path}/tasks/${task}/finish`, { token });
    await finish(3);
    const { cursor } = (await finish(1)).written;
    await finish(4);
    await write('POST', `${path}/tasks/4/move`, { token, body: { before: 1 } });
    return { token, id, path, cursor };
  });

const titlesOf = (tasks: readonly Task[]) => tasks.map(({ title }) => title);

test('a list is sorted by the time, with the items that have it', async ({
  filled: { token, path },
  session: { read },
}) => {
  const titles = async (query: string) =>
    titlesOf((await read<readonly Task[]>(`${path}/tasks${query}`, { token })).body);
  expect(await titles('')).toEqual(['four', 'one', 'two', 'three']);
  expect(await titles('?sort=doneAt')).toEqual(['three', 'one', 'four']);
  expect(await titles('?sort=-doneAt')).toEqual(['four', 'one', 'three']);
  for (const query of ['sort=title', 'sort=', 'sort=rank'])
    expect((await read(`${path}/tasks?${query}`, { token })).status).toBe(400);
});

test('pages keep the order both ways, and former states have it', async ({
  filled: { token, path, cursor },
  session: { read },
}) => {
  const linkOf = (headers: Headers, rel: string) =>
    new RegExp(`<([^>]+)>; rel="${rel}"`).exec(headers.get('link') ?? '')?.[1] ?? '';
  const get = (at: string) => read<readonly Task[]>(at, { token });
  const first = await get(`${path}/tasks?sort=-doneAt&limit=2`);
  const next = linkOf(first.headers, 'next');
  expect(next).toContain('sort=-doneAt');
  const second = await get(next);
  expect([first, second].map(({ body }) => titlesOf(body))).toEqual([['four', 'one'], ['three']]);
  expect(titlesOf((await get(linkOf(second.headers, 'prev'))).body)).toEqual(['four', 'one']);
  expect((await get(next.replace('-doneAt', 'doneAt'))).status).toBe(400);
  const then = await get(`${path}/tasks?sort=-doneAt&limit=1&at=${cursor}`);
  expect(titlesOf(then.body)).toEqual(['one']);
  expect(titlesOf((await get(linkOf(then.headers, 'next'))).body)).toEqual(['three']);
});

test('a cursor that names no time is refused', async ({ filled: { token, path }, session: { read } }) => {
  const next = (await read(`${path}/tasks?sort=doneAt&limit=1`, { token })).headers.get('link') ?? '';
  const [, cursor = ''] = /after=([^&>]+)/.exec(next) ?? [];
  const [identity] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as readonly string[];
  const forged = Buffer.from(JSON.stringify([identity, 'yesterday', 1])).toString('base64url');
  expect((await read(`${path}/tasks?sort=doneAt&after=${forged}`, { token })).status).toBe(400);
});

test('GraphQL sorts lists and pages, now and then', async ({ filled: { token, id, cursor }, graphql }) => {
  const ask = async (sort: string, at = '') => {
    const { data } = await graphql<{ readonly plan: unknown }>(
      `{ plan(id: "${id}"${at}) { tasks(sort: ${sort}) { title }
        tasksConnection(first: 1, sort: ${sort}) { totalCount nodes { title } pageInfo { endCursor hasNextPage } } } }`,
      { token },
    );
    return data?.plan as {
      readonly tasks: readonly Task[];
      readonly tasksConnection: {
        readonly totalCount: number;
        readonly nodes: readonly Task[];
        readonly pageInfo: { readonly endCursor: string };
      };
    };
  };
  const latest = await ask('DONE_AT_DESC');
  expect(titlesOf(latest.tasks)).toEqual(['four', 'one', 'three']);
  expect(latest.tasksConnection).toMatchObject({ totalCount: 3, nodes: [{ title: 'four' }] });
  expect(titlesOf((await ask('DONE_AT_ASC', `, at: "${cursor}"`)).tasks)).toEqual(['three', 'one']);
  const after = latest.tasksConnection.pageInfo.endCursor;
  const { data } = await graphql(
    `{ plan(id: "${id}") { tasksConnection(first: 5, after: "${after}", sort: DONE_AT_DESC) { nodes { title } } } }`,
    { token },
  );
  expect(data).toEqual({ plan: { tasksConnection: { nodes: [{ title: 'one' }, { title: 'three' }] } } });
});

test('one query reads a list in several orders', async ({ filled: { token, id }, graphql }) => {
  const lists = `own: tasks { title } latest: tasks(sort: DONE_AT_DESC) { title } first: tasks(sort: DONE_AT_ASC) { title }
    all: tasksConnection { totalCount } done: tasksConnection(sort: DONE_AT_ASC) { totalCount }`;
  const read = async (beside: string) =>
    (await graphql<{ readonly plan: unknown }>(`{ ${beside} plan(id: "${id}") { ${lists} } }`, { token }))
      .data?.plan;
  const planned = await read('');
  expect(planned).toMatchObject({ all: { totalCount: 4 }, done: { totalCount: 3 } });
  // Nothing plans the types of events, so that the resolvers read this one.
  expect(await read('eventTypes { type }')).toEqual(planned);
});
