import { expect, test } from 'vitest';
import type { EventId, StreamName } from '#shared/brands.ts';
import { isOfTimer, timerTask } from './react.ts';
import type { ReactionTask } from './tasks.ts';
import { isLook } from './timers.ts';

const named = (task: ReactionTask['task'], name: string): ReactionTask => ({
  task,
  stream: 'task-1' as StreamName,
  name,
  cause: { id: '' as EventId, metadata: {} as never },
});

test('timers are told from a reference that is called timer, and from an event that is called timers', () => {
  expect([named('run', timerTask('remind')), named('run', 'timer team.remind'), named('react', 'timers')].map(isOfTimer)).toEqual([
    true,
    false,
    false,
  ]);
  expect([named('run', 'timers'), named('react', 'timers')].map(isLook)).toEqual([true, false]);
});
