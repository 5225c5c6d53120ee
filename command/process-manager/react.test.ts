import { v5, v7 } from 'uuid';
import { expect, test } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { timeOfId } from '#shared/id-time.ts';
import { budgets } from '../../test/toy/budgets.ts';
import { firstIdOf, marked } from './react.ts';
import type { ReactionTask } from './tasks.ts';
import { isOfSchedule, isOfTimer, scheduleTask, timerTask } from './tasks.ts';
import { isLook } from './timers.ts';

const named = (task: ReactionTask['task'], name: string): ReactionTask => ({
  task,
  stream: 'task-1' as StreamName,
  name,
  cause: { id: '' as EventId, metadata: {} as never },
});

test('tasks of timers are distinct from a reference named timer, and from an event named timers', () => {
  expect(
    [named('run', timerTask('remind')), named('run', 'timer team.remind'), named('react', 'timers')].map(
      isOfTimer,
    ),
  ).toEqual([true, false, false]);
  expect([named('run', 'timers'), named('react', 'timers')].map(isLook)).toEqual([true, false]);
});

test('tasks of schedules are distinct from those of a reference named schedule', () => {
  const tasks = [scheduleTask('nightly-report'), 'schedule plan.closed', timerTask('schedule')];
  expect(tasks.map((name) => isOfSchedule(named('run', name)))).toEqual([true, false, false]);
});

test('creations that follow from imported events have ids of their own, whatever times these claim', () => {
  const at = '1999-12-31T00:00:00.000Z';
  const idsOf = (metadata: object) =>
    Array.from({ length: 3_000 }, (_, index) => {
      const id = v7({ msecs: Date.UTC(2026, 10, 1) + index }) as EventId;
      return firstIdOf({ id, metadata: metadata as never }, v5('event', id));
    });
  const imported = idsOf({ at, importedAt: '2026-11-01T00:00:00.000Z' });
  expect(new Set(imported).size).toBe(3_000);
  expect(timeOfId(imported[7] ?? 0)).toBe(Date.UTC(2026, 10, 1) + 7);
  expect(timeOfId(idsOf({ at: '2026-05-01T00:00:00.000Z' })[7] ?? 0)).toBe(Date.UTC(2026, 4, 1));
});

test('commands of code have marks that are independent of their order and contain no personal data', () => {
  const make = (purpose: string, amount: number) => ({
    ...{ kind: 'claim', command: 'make', id: undefined, when: undefined },
    form: { purpose, amount, teamId: 7 },
  });
  const commands = [
    make('Coal', 1),
    make('Oil', 2),
    { kind: 'team', command: 'book', id: 7, form: { spent: 1 }, when: undefined },
  ];
  const marksOf = (all: typeof commands) =>
    new Map(marked(budgets, all).map(([mark, commanded]) => [commanded, mark]));
  expect(marksOf(commands.toReversed())).toEqual(marksOf(commands));
  expect(new Set(marksOf(commands).values()).size).toBe(3);
  expect([...marksOf(commands).values()].join()).not.toContain('Coal');
  expect(marked(budgets, [make('Coal', 1), make('Coal', 1)]).map(([mark]) => mark.slice(-2))).toEqual([
    ' 0',
    ' 1',
  ]);
});
