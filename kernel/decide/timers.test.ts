import { expect, test } from 'vitest';
import { requests } from '../../test/toy/requests.ts';
import type { EventId } from '../base/brands.ts';
import type { Row } from '../registry/registry.ts';
import { deciderOf } from './decider.ts';
import { ABSENT, type Happened } from './state.ts';
import { type Moment, stateAt, timerStatesOf } from './timers.ts';

const { request } = requests.kinds;
if (!request) throw new Error('There is no request');
const DAY = 86_400_000;
const HOUR = 3_600_000;

type Hours = readonly (readonly [event: string, hour: number, data?: Row])[];
/** Events of a request at certain hours. */
const history = (...events: Hours): readonly Moment[] => {
  const { evolve } = deciderOf(requests, request);
  let state = ABSENT as ReturnType<typeof evolve>;
  return events.map(([event, hour, data], index) => {
    const atMs = hour * HOUR;
    const happened: Happened = {
      type: `request.${event}`,
      data: { requestId: 1, ...(data ?? { customerId: 2, subject: 'x', priority: 'normal' }) },
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

test('a timer after several events runs from the latest of them', () => {
  const timer = { name: 'late', run: 'remind', when: undefined, pause: undefined };
  const starts = { after: ['request.asked', 'request.reopened'], wait: { ms: DAY } };
  const kind = { ...request, timers: { late: { ...timer, starts } } };
  const stateOf = (...events: Hours) => timerStatesOf(requests, kind, history(...events));
  expect(stateOf(['asked', 0])).toEqual([{ name: 'late', cause: 'asked 0', dueMs: DAY }]);
  expect(stateOf(['asked', 0], ['reopened', 30])).toEqual([
    { name: 'late', cause: 'reopened 1', dueMs: 54 * HOUR },
  ]);
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

const URGENT = { priority: 'urgent' };
const NORMAL = { priority: 'normal' };

test('a wait by a choice follows its word, and a time that has passed by then is due at once', () => {
  expect(timerState('breach', ['asked', 0], ['changed', 1, URGENT])).toMatchObject({ dueMs: 4 * HOUR });
  expect(timerState('breach', ['asked', 0], ['changed', 5, URGENT])).toMatchObject({ dueMs: 5 * HOUR });
  expect(timerState('breach', ['asked', 0], ['changed', 1, URGENT], ['changed', 2, NORMAL])).toMatchObject({
    dueMs: 40 * HOUR,
  });
});

test('a word without a wait, or of an object, never runs out', () => {
  for (const priority of ['constructor', 'null', null])
    expect(timerState('breach', ['asked', 0, { subject: 'x', customerId: 2, priority }])).toBeUndefined();
});

test('one that ran out before its word changed stays due', () => {
  expect(timerState('breach', ['asked', 0], ['changed', 1, URGENT], ['changed', 6, NORMAL])).toMatchObject({
    dueMs: 4 * HOUR,
  });
});

test('a word that changes during a pause counts when the pause is over', () => {
  const paused = [
    ['asked', 0],
    ['returned', 10],
    ['changed', 20, URGENT],
  ] as const;
  expect(timerState('breach', ...paused)).toMatchObject({ leftMs: 0 });
  expect(timerState('breach', ...paused, ['answered', 100])).toMatchObject({ dueMs: 100 * HOUR });
});

test('a timer at the time in a field starts anew with every change of it', () => {
  const at = (hour: number) => ({ promisedAt: new Date(hour * HOUR).toISOString() });
  expect(timerState('warn', ['asked', 0])).toBeUndefined();
  const promised = [
    ['asked', 0],
    ['changed', 1, at(9)],
  ] as const;
  expect(timerState('warn', ...promised)).toMatchObject({ cause: 'changed 1', dueMs: 8 * HOUR });
  expect(timerState('warn', ...promised, ['changed', 2, URGENT])).toMatchObject({ cause: 'changed 1' });
  expect(timerState('warn', ...promised, ['changed', 3, at(20)])).toMatchObject({
    cause: 'changed 2',
    dueMs: 19 * HOUR,
  });
  expect(timerState('warn', ...promised, ['changed', 12, at(11)])).toMatchObject({ dueMs: 12 * HOUR });
  expect(timerState('warn', ...promised, ['changed', 3, { promisedAt: null }])).toBeUndefined();
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
