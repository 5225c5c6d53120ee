import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, list, ref, states } from '../declare/fields.ts';
import { refusalsOfCommand } from '../rest/writes.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'plans', roles: ['planner'] });
const { aggregate, user } = base;
const plan = aggregate('plan', {
  owner: 'planner',
  fields: {
    planner: ref(user),
    title: line(50),
    tasks: list(
      {
        title: line(50),
        points: integer(0, 99).default(0),
        number: integer(0, 99),
        state: states('todo', 'done'),
      },
      { max: 9 },
    ),
    status: states('open', 'finished'),
  },
  events: {
    made: { creates: ['title'] },
    taskAdded: { adds: 'tasks', fields: ['title'], computes: ['number'] },
    taskFollowed: { adds: 'tasks', fields: [], sets: { title: 'Tell them', number: 0 } },
    taskDone: { updates: 'tasks', sets: { state: 'done' } },
    taskRated: { updates: 'tasks', computes: ['points'] },
    taskRemoved: { removes: 'tasks' },
    finished: { sets: { status: 'finished' } },
  },
  commands: {
    make: { emits: 'made' },
    addTask: {
      emits: ['taskAdded', 'taskFollowed', 'finished'],
      decide: ({ state, form: { title = '' } }) => {
        if (title === 'Nothing') return [];
        if (title === 'Later') return ['finished'];
        const added = ['taskAdded', { number: title === 'Many' ? 100 : state.tasks.length + 1 }] as const;
        return title.includes('!') ? [added, 'taskFollowed'] : [added];
      },
    },
    finishTask: {
      emits: ['taskDone', 'taskFollowed', 'finished'],
      decide: ({ state, item }) => {
        const isLast = state.tasks.every(({ id, state: each }) => id === item?.id || each === 'done');
        if (isLast) return ['taskDone', 'finished'];
        return item?.points === 99 ? ['taskDone', 'taskFollowed'] : ['taskDone'];
      },
    },
    rateTask: {
      emits: ['taskRated', 'taskRemoved'],
      decide: ({ item, now }) => {
        const points = (item?.title.length ?? 0) + now.length;
        return points > 30 ? ['taskRemoved'] : [['taskRated', { points }]];
      },
    },
  },
  rights: { read: { planner: true }, write: { planner: true } },
});
const plans = assemble(base, [plan]);
const { given } = rulesOf(plans);

const made = ['made', { title: 'Move' }] as const;
const added = (taskId: number, title: string, number = taskId) =>
  ['taskAdded', { taskId, title, number, points: 0, state: 'todo' }] as const;
const followed = (taskId: number) =>
  ['taskFollowed', { taskId, title: 'Tell them', number: 0, points: 0, state: 'todo' }] as const;
const done = (taskId: number) => ['taskDone', { taskId, state: 'done' }] as const;

test('a decision computes the fields of a new item, and adds further ones', () => {
  given(plan, made).when('addTask', { title: 'Pack' }).yields(added(1, 'Pack'));
  given(plan, made, added(1, 'Pack'))
    .when('addTask', { title: 'Call!' })
    .yields(added(2, 'Call!'), followed(3));
});

test('a decision gets the item, and its events concern the item and its aggregate', () => {
  given(plan, made, added(1, 'Pack')).when('finishTask', { taskId: 1 }).yields(done(1), 'finished');
  given(plan, made, added(1, 'Pack'), added(2, 'Call'), ['taskRated', { taskId: 2, points: 99 }])
    .when('finishTask', { taskId: 2 })
    .yields(done(2), followed(3));
  given(plan, made, added(1, 'Pack')).when('finishTask', { taskId: 2 }).refuses('plan_task_not_found');
});

test('a decision chooses among events, and one that changes nothing yields none', () => {
  given(plan, made, added(1, 'Pack'))
    .when('rateTask', { taskId: 1 })
    .yields(['taskRated', { taskId: 1, points: 28 }]);
  given(plan, made, added(1, 'Pack'), ['taskRated', { taskId: 1, points: 28 }])
    .when('rateTask', { taskId: 1 })
    .changesNothing();
  given(plan, made, added(1, 'Pack the car'))
    .when('rateTask', { taskId: 1 })
    .yields(['taskRemoved', { taskId: 1 }]);
});

test('a decision that adds nothing is refused, because no item could be named', () => {
  const added = given(plan, made).when('addTask', { title: 'Nothing' });
  added.refuses('plan_task_not_added', 'The plan task was not added.');
  expect(() => given(plan, made).when('addTask', { title: 'Later' }).yields()).toThrow(
    'plan: addTask decided on events, but on none of plan.taskAdded, plan.taskFollowed, so there is no id',
  );
  const { plan: kind } = plans.kinds;
  const { addTask } = kind?.commands ?? {};
  expect(kind && addTask && refusalsOfCommand(plans, kind, addTask)).toEqual([
    'plan_task_not_added',
    'invalid_request',
  ]);
});

test('a value of an item beyond the limits of its field is refused', () =>
  given(plan, made).when('addTask', { title: 'Many' }).refuses('invalid_command'));

test('the commands have paths and forms as without decisions', () => {
  expect(
    Object.values(plans.kinds.plan?.commands ?? {}).map(({ name, kind, itemForm }) => [name, kind, itemForm]),
  ).toEqual([
    ['make', 'create', []],
    ['addTask', 'addItem', ['title']],
    ['finishTask', 'actOnItem', []],
    ['rateTask', 'actOnItem', []],
  ]);
});
