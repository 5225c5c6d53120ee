import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { line, list, ref, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'teams', roles: ['member'] });
const { aggregate } = base;
const team = (reactions: object = {}) =>
  aggregate('team', {
    fields: { name: line(10), head: ref('task').optional(), status: states('open', 'shut') },
    events: {
      founded: { creates: ['name', 'head'] },
      shut: { sets: { status: 'shut' } },
      gone: { ends: true },
    },
    commands: { found: { emits: 'founded' }, shut: { emits: 'shut' }, end: { emits: 'gone' } },
    rights: { read: { anyone: true } },
    reactions: reactions as never,
  });
const task = (more: object) =>
  aggregate('task', {
    fields: {
      team: ref('team'),
      maker: ref('user').optional(),
      title: line(10),
      note: line(10),
      status: states('new', 'done'),
    },
    events: {
      made: { creates: ['team', 'title', 'note'] },
      noted: { changes: ['note'], sets: { status: 'done' } },
      done: { sets: { status: 'done' } },
      gone: { ends: true },
    },
    commands: {
      make: { emits: 'made' },
      note: { emits: 'noted' },
      finish: { emits: 'done' },
      drop: { emits: 'gone' },
    },
    rights: { read: { anyone: true } },
    ...more,
  } as never);
const steps = {
  fields: {
    team: ref('team'),
    title: line(10),
    note: line(10),
    steps: list({ by: ref('team'), says: line(9) }, { max: 3 }),
  },
  events: {
    made: { creates: ['team', 'title', 'note'] },
    stepChanged: { updates: 'steps' },
    stepRemoved: { removes: 'steps' },
  },
  commands: {
    make: { emits: 'made' },
    changeStep: { emits: 'stepChanged' },
    removeStep: { emits: 'stepRemoved' },
  },
};
const assembled = (more: object, reactions?: object) =>
  assemble(base, [team(reactions), task(more)] as never);

test.each(
  Object.entries<() => unknown>({
    'task: a reaction follows title, which is not one of its references': () =>
      assembled({ reactions: { title: { shut: { run: 'finish' } } } }),
    'task: the reaction to team.closed by team waits for an unknown event: team has founded, shut, gone.':
      () => assembled({ reactions: { team: { closed: { run: 'finish' } } } }),
    'task: the reaction to team.shut by team runs end, which is not one of its commands: use one of make, note, finish, drop.':
      () => assembled({ reactions: { team: { shut: { run: 'end' } } } }),
    'runs note, which needs a form: run a command without a form, or run this one from code.': () =>
      assembled({ reactions: { team: { shut: { run: 'note' } } } }),
    'task has no fact nope': () =>
      assembled({ reactions: { team: { shut: { run: 'finish', when: 'nope' } } } }),
    // The aggregate has no owner.
    'task has no fact own': () =>
      assembled({ reactions: { team: { shut: { run: 'finish', when: 'own' } } } }),
    'task: the reaction to team.shut by team has a condition on the caller, but the system itself runs the command: use fields of the task.':
      () => assembled({ reactions: { team: { shut: { run: 'finish', when: { maker: 'caller' } } } } }),
    'task: a reaction follows steps.team, which is not one of its references': () =>
      assembled({ reactions: { 'steps.team': { shut: { run: 'finish' } } } }),
    'runs removeStep, which changes an item, but no reference of the steps selects one: follow a reference of these items.':
      () => assembled({ reactions: { team: { shut: { run: 'removeStep' } } }, ...steps }),
    'task: the reaction to team.shut by steps.by runs changeStep, which needs a form': () =>
      assembled({ reactions: { 'steps.by': { shut: { run: 'changeStep' } } }, ...steps }),
    'runs make, which needs a form': () => assembled({ reactions: { team: { shut: { run: 'make' } } } }),
    'task: a reaction by code waits for shut, which is not one of its events: use one of made, noted, done, gone.':
      () => assembled({ reactions: { shut: () => [] } }),
  }),
)('refused: %s', (says, declare) => {
  expect(declare).toThrow(says);
});

test('reactions in a circle are refused', () => {
  const circle = { reactions: { team: { shut: { run: 'finish' } } } };
  expect(() => assembled(circle, { head: { done: { run: 'shut' } } })).toThrow(
    'team: the reaction to task.done by head triggers itself again: task.done, team.shut, task.done, and so on; remove one of these reactions.',
  );
});

test('a circle through an end terminates, and is accepted', () => {
  expect(
    assembled({ reactions: { team: { gone: { run: 'drop' } } } }, { head: { gone: { run: 'end' } } }).name,
  ).toBe('teams');
});

const remind = { after: 'made', wait: '3 days', run: 'finish' };
test.each(
  Object.entries<() => unknown>({
    'task: the timer remind starts after task.sent, which is not an event: task has made, noted, done, gone.':
      () => assembled({ timers: { remind: { ...remind, ...{ after: 'sent' } } } }),
    'task: the timer remind runs end, which is not one of its commands: use one of make, note, finish, drop.':
      () => assembled({ timers: { remind: { ...remind, ...{ run: 'end' } } } }),
    'task: the timer remind runs note, which needs a form': () =>
      assembled({ timers: { remind: { ...remind, ...{ run: 'note' } } } }),
    'task: the timer remind waits for “0 days”: use a number of seconds, minutes, hours, days or weeks, up to ten years.':
      () => assembled({ timers: { remind: { ...remind, ...{ wait: '0 days' } } } }),
    'waits for “3 moons”': () => assembled({ timers: { remind: { ...remind, ...{ wait: '3 moons' } } } }),
    'waits for “600 weeks”': () => assembled({ timers: { remind: { ...remind, ...{ wait: '600 weeks' } } } }),
    'task has no fact opne': () => assembled({ timers: { remind: { ...remind, ...{ when: 'opne' } } } }),
    'task: the timer remind has `unless`, which has no meaning there: use after, wait, pause, run, when.':
      () => assembled({ timers: { remind: { ...remind, ...{ unless: 'open' } } } }),
    'task: the timer remind starts after task.lost, which is not an event': () =>
      assembled({ timers: { remind: { ...remind, after: ['made', 'lost'] } } }),
    'task: the timer remind starts after no event: name one in `after`, or remove the timer.': () =>
      assembled({ timers: { remind: { ...remind, after: [] } } }),
    'task: the timer remind has `pause`, which has no meaning there: use at, before, run, when.': () =>
      assembled({ timers: { remind: { at: 'title', run: 'finish', pause: 'open' } } }),
    'task: the timer remind has a condition on the caller': () =>
      assembled({ timers: { remind: { ...remind, ...{ when: { maker: 'caller' } } } } }),
    'task: the timer remind waits by size, which is no choice': () =>
      assembled({ timers: { remind: { ...remind, ...{ wait: { size: { 3: '1 day' } } } } } }),
    'task: the timer remind waits for huge, which is no word of status: use new, done.': () =>
      assembled({ timers: { remind: { ...remind, ...{ wait: { status: { huge: '1 day' } } } } } }),
    'task: the timer remind waits by status and title: let it wait by one field.': () =>
      assembled({ timers: { remind: { ...remind, ...{ wait: { status: {}, title: {} } } } } }),
    'task: the timer remind runs out at title, which is no date or instant that stays: declare one, not personal.':
      () => assembled({ timers: { remind: { at: 'title', run: 'finish' } } }),
    'task: the timer remind has a `pause` that depends on the target of a reference: use fields of the task itself':
      () => assembled({ timers: { remind: { ...remind, ...{ pause: { team: 'shut' } } } } }),
  }),
)('refused: %s', (says, declare) => {
  expect(declare).toThrow(says);
});

test('a timer named like a reaction is refused, and a timer that restarts itself is accepted', () => {
  expect(() => assembled({ timers: { 'team team.shut': remind } })).toThrow(
    'task: the timer team team.shut does not match',
  );
  expect(
    assembled({ timers: { remind: { ...remind, after: 'done' } } }).kinds.task?.timers.remind?.starts,
  ).toEqual({ after: ['task.done'], wait: { ms: 259_200_000 } });
});
