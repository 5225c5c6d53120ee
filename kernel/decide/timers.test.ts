import { expect, test } from 'vitest';
import { requests } from '../../test/toy/requests.ts';
import type { EventId } from '../base/brands.ts';
import { deciderOf } from './decider.ts';
import { ABSENT, type Happened } from './state.ts';
import { type Moment, stateAt, timerStatesOf } from './timers.ts';

const { request } = requests.kinds;
if (!request) throw new Error('There is no request');
const DAY = 86_400_000;
const HOUR = 3_600_000;

type Hours = readonly (readonly [event: string, hour: number])[];
/** Events of a request at certain hours. */
const history = (...events: Hours): readonly Moment[] => {
  const { evolve } = deciderOf(requests, request);
  let state = ABSENT as ReturnType<typeof evolve>;
  return events.map(([event, hour], index) => {
    const atMs = hour * HOUR;
    const happened: Happened = {
      type: `request.${event}`,
      data: { requestId: 1, customerId: 2, subject: 'x' },
      metadata: { at: new Date(atMs).toISOString(), actor: 'anonymous' },
    };
    state = evolve(state, happened);
    return { id: `${event} ${index}` as EventId, type: happened.type, atMs, state };
  });
};
const timerState = (name: string, ...events: Hours) =>
  timerStatesOf(requests, request, history(...events)).find((each) => each.name === name);

test('a timer runs from the latest event that starts it', () => {
  expect(timerState('remind', ['asked', 0])).toMatchObject({ cause: 'asked 0', dueMs: 3 * DAY });
  expect(timerState('remind', ['asked', 0], ['reopened', 5])).toMatchObject({ dueMs: 3 * DAY });
  expect(timerState('escalate', ['asked', 0])).toBeUndefined();
  expect(timerState('escalate', ['asked', 0], ['reminded', 72], ['reminded', 80])).toMatchObject({
    cause: 'reminded 2',
    dueMs: 80 * HOUR + DAY,
  });
});

test('a paused timer resumes with the time that was left', () => {
  const paused = [
    ['asked', 0],
    ['returned', 10],
  ] as const;
  expect(timerState('breach', ...paused)).toMatchObject({ leftMs: 30 * HOUR });
  expect(timerState('breach', ...paused, ['answered', 100])).toMatchObject({ dueMs: 130 * HOUR });
  expect(
    timerState('breach', ...paused, ['answered', 100], ['returned', 110], ['answered', 500]),
  ).toMatchObject({ dueMs: 520 * HOUR });
});

test('a timer that ran out before the pause stays due, and a clock that goes back adds no time', () => {
  expect(timerState('breach', ['asked', 0], ['returned', 41])).toMatchObject({ dueMs: 40 * HOUR });
  expect(timerState('breach', ['asked', 10], ['returned', 5])).toMatchObject({ leftMs: 40 * HOUR });
});

test('an ended aggregate has no timers', () => {
  expect(timerState('remind', ['asked', 0], ['closed', 1])).toBeUndefined();
});

test('the state at a time is the one after the last event until then', () => {
  const events = history(['asked', 0], ['returned', 10]);
  expect(stateAt(events, 9 * HOUR)).toMatchObject({ fields: { status: 'open' } });
  expect(stateAt(events, 10 * HOUR)).toMatchObject({ fields: { status: 'waiting' } });
  expect(stateAt(events, -1)).toEqual(ABSENT);
});
