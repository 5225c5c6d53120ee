import { expect } from 'vitest';
import { plans } from './plans.ts';
import { test as base } from './toy-fixture.ts';

/** Commands to items on every surface. The tests depend on each other. */
type Body = Readonly<Record<string, unknown>>;
type Entry = Body & { readonly type: string; readonly data: Body };

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: plans } })
  .extend('planner', { scope: 'file' }, ({ people }) => people.signUp('Paula'))
  .extend('path', { scope: 'file' }, async ({ session, planner: { token } }) => {
    const { written } = await session.write('POST', '/plans', { token, body: { title: 'Move house' } });
    return `/plans/${written.id}`;
  })
  .extend(
    'send',
    { scope: 'file' },
    ({ ask, session, planner: { token } }) =>
      async (method: string, at: string, body?: unknown, type?: string) => {
        const {
          status,
          headers,
          body: answer,
        } = await ask(method, at, {
          token,
          ...(body !== undefined && { body }),
          ...(type !== undefined && { type }),
        });
        const cursor = headers.get('consistency-token');
        // The next reader sees the write.
        if (cursor !== null)
          await session.read('/plans', { token, headers: { 'consistency-token': cursor } });
        return { status, ...(answer as Body) };
      },
  )
  .extend(
    'read',
    { scope: 'file' },
    ({ session, planner: { token } }) =>
      async (at: string) =>
        (await session.read<Body & Body[]>(at, { token })).body,
  );

const PATCH = 'application/json-patch+json';
const relsOf = ({ _links }: Body) => Object.keys(_links as object);

test('an addition returns the id of the item, also if its decision has further events', async ({
  path,
  send,
  read,
}) => {
  const first = await send('POST', `${path}/tasks`, { title: 'Pack' });
  expect(first).toMatchObject({ status: 201, version: 3, taskId: 1 });
  expect(await send('POST', `${path}/tasks`, { title: 'Call' })).toMatchObject({ version: 4, taskId: 2 });
  expect(await send('POST', `${path}/tasks`, { title: 'x', state: 'done' })).toMatchObject({ status: 422 });
  expect(await read(`${path}/tasks/1`)).toMatchObject({
    ...{ id: 1, title: 'Pack', number: 1, state: 'todo', doneBy: null, doneAt: null, reason: null },
  });
  expect(await read(path)).toMatchObject({ status: 'open' });
});

test('a JSON patch changes an item, after its tests', async ({ path, send, read }) => {
  const tests = [
    { op: 'test', path: '/number', value: 2 },
    { op: 'test', path: '/state', value: 'todo' },
    { op: 'replace', path: '/title', value: 'Call the movers' },
  ];
  expect(await send('PATCH', `${path}/tasks/2`, tests, PATCH)).toMatchObject({ status: 200, version: 5 });
  expect(await read(`${path}/tasks/2`)).toMatchObject({ title: 'Call the movers' });
  const failed = [{ op: 'test', path: '/title', value: 'Call' }];
  expect(await send('PATCH', `${path}/tasks/2`, failed, PATCH)).toMatchObject({ code: 'patch_test_failed' });
  const fixed = [{ op: 'replace', path: '/state', value: 'done' }];
  expect(await send('PATCH', `${path}/tasks/2`, fixed, PATCH)).toMatchObject({ status: 422 });
  expect(await send('PATCH', `${path}/tasks/9`, fixed, PATCH)).toMatchObject({ code: 'plan_task_not_found' });
});

test('links and refusals follow the state of the item', async ({ path, send, read, planner }) => {
  const open = ['self', 'plan', 'edit', 'finish-task', 'drop-task', 'move-task'];
  expect(relsOf(await read(`${path}/tasks/1`))).toEqual(open);
  expect(await send('POST', `${path}/tasks/1/finish`)).toMatchObject({ status: 200 });
  const done = await read(`${path}/tasks/1`);
  expect(done).toMatchObject({ state: 'done', doneAt: expect.any(String) });
  expect(JSON.stringify(done.doneBy ?? done.doneById)).toContain(String(planner.userId));
  expect(relsOf(done)).toEqual(expect.not.arrayContaining(['edit', 'finish-task', 'drop-task']));
  expect(await send('POST', `${path}/tasks/1/drop`, { reason: 'Late' })).toMatchObject({
    status: 409,
    code: 'plan_task_not_todo',
  });
});

test('GraphQL sends the same commands, and the plan is finished with its last task', async ({
  graphql,
  path,
  planner: { token },
  read,
}) => {
  const [, , id] = path.split('/');
  const drop = `mutation { dropPlanTask(id: "${id}", taskId: "1", reason: "Late") { taskId } }`;
  expect((await graphql<Body>(drop, { token })).errors).toMatchObject([
    { extensions: { code: 'plan_task_not_todo' } },
  ]);
  const finish = `mutation { finishPlanTask(id: "${id}", taskId: "2") { taskId state number doneAt plan { status } } }`;
  expect((await graphql<Body>(finish, { token })).data).toEqual({
    finishPlanTask: {
      ...{ taskId: '2', state: 'done', number: 2, doneAt: expect.any(String) },
      plan: { status: 'finished' },
    },
  });
  expect(await read(`${path}?at=v5`)).toMatchObject({ status: 'open' });
  expect(await read(`${path}/tasks?at=v5`)).toMatchObject([{ state: 'todo' }, { title: 'Call the movers' }]);
});

test('events contain what the server set', async ({ path, session, planner }) => {
  const { body } = await session.read<readonly Entry[]>(
    `/events?subject=plan-${path.split('/')[2]}&limit=100`,
    {
      token: planner.token,
    },
  );
  const tasks = body.filter(({ type }) => type.startsWith('plan.task'));
  expect(tasks.map(({ type }) => type)).toEqual([
    ...['plan.taskAdded', 'plan.taskAdded', 'plan.taskChanged', 'plan.taskDone', 'plan.taskDone'],
  ]);
  expect(tasks[0]?.data).toMatchObject({ taskId: 1, number: 1, state: 'todo', reason: null });
  expect(tasks[3]?.data).toMatchObject({ taskId: 1, state: 'done', doneById: planner.userId });
});
