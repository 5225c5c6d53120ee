import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { instant, integer, line, list, ref, states } from '#kernel/declare/fields.ts';

/** Tasks of plans: items with states, and commands to them that decide on several events. */
const base = domain({ name: 'plans', roles: ['planner'] });
const { aggregate, user } = base;

const plan = aggregate('plan', {
  owner: 'planner',
  fields: {
    planner: ref(user),
    title: line(50).search('A').example('Move house'),
    tasks: list(
      {
        title: line(50).example('Pack'),
        number: integer(1, 999),
        state: states('todo', 'done', 'dropped'),
        doneBy: ref(user).optional(),
        doneAt: instant().optional().sort(),
        reason: line(50).optional().example('Too late'),
      },
      { max: 9, ordered: true },
    ),
    status: states('idea', 'open', 'finished').filter(),
  },
  events: {
    made: { says: 'A plan was made.', creates: ['title'] },
    taskAdded: {
      says: 'A task was added to a plan.',
      adds: 'tasks',
      fields: ['title'],
      computes: ['number'],
    },
    taskChanged: { updates: 'tasks', fields: ['title'] },
    taskDone: { updates: 'tasks', sets: { state: 'done', doneBy: 'caller', doneAt: 'now' } },
    taskDropped: { updates: 'tasks', fields: ['reason'], sets: { state: 'dropped' } },
    taskMoved: { moves: 'tasks' },
    begun: { says: 'The first task was added to a plan.', sets: { status: 'open' } },
    finished: { says: 'All tasks of a plan are done.', sets: { status: 'finished' }, subscribe: true },
    deleted: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    addTask: {
      emits: ['taskAdded', 'begun'],
      when: ['idea', 'open'],
      decide: ({ state }) => {
        const added = ['taskAdded', { number: state.tasks.length + 1 }] as const;
        return state.status === 'idea' ? [added, 'begun'] : [added];
      },
    },
    changeTask: { emits: 'taskChanged', whenItem: { state: 'todo' } },
    finishTask: {
      emits: ['taskDone', 'finished'],
      whenItem: { state: 'todo' },
      decide: ({ state, item }) =>
        state.tasks.every(({ id, state: each }) => id === item?.id || each === 'done')
          ? ['taskDone', 'finished']
          : ['taskDone'],
    },
    dropTask: { emits: 'taskDropped', whenItem: { state: 'todo' } },
    moveTask: { emits: 'taskMoved' },
    delete: { emits: 'deleted' },
  },
  rights: { read: { anyone: 'finished', planner: ['finished', 'own'] }, write: { planner: 'own' } },
  reactions: { planner: { deleted: { run: 'delete' } } },
});

export const plans = assemble(base, [plan]);
