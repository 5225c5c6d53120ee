import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KEY_LOST } from './errors.ts';
import { reportLostKeys } from './report-lost-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('events with lost keys are reported together, with their number; other faults are left to others', () => {
  const reported: unknown[] = [];
  const lost = reportLostKeys(
    { error: ((given: unknown) => void reported.push(given)) as never },
    'Aggregates are parked, because',
  );
  for (let event = 0; event < 3; event += 1)
    expect(lost.count(`Event ${event} is malformed: ${KEY_LOST}`)).toBe(true);
  expect(lost.count('Event 4 is malformed: title is too long')).toBe(false);
  expect(reported).toEqual([]);
  vi.runAllTimers();
  expect(reported).toEqual([{ events: 3 }]);
  lost.count(KEY_LOST);
  lost[Symbol.dispose]();
  vi.runAllTimers();
  expect(reported).toEqual([{ events: 3 }, { events: 1 }]);
});
