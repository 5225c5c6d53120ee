import { expect, test } from 'vitest';
import { scheduledTime, timesOf } from './schedules.ts';

const nextOf = (cron: string, timeZone: string, after: string, count: number): readonly string[] => {
  const times = timesOf({ cron, timeZone });
  const found: string[] = [];
  for (let afterMs = Date.parse(after); found.length < count; ) {
    afterMs = times.next(afterMs) ?? Number.NaN;
    found.push(new Date(afterMs).toISOString().slice(0, 16));
  }
  return found;
};

test.each([
  // Berlin skips 02:00 to 03:00: the time is at the end of the gap.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-30T00:30']],
  ['0,30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-30T00:00']],
  // Berlin shows 02:00 to 03:00 twice: the first counts.
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
  ['30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
  // Every hour, every quarter: those that pass.
  [
    '0 * * * *',
    'America/New_York',
    '2026-11-01T04:30Z',
    ['2026-11-01T05:00', '2026-11-01T06:00', '2026-11-01T07:00'],
  ],
  [
    '*/30 * * * *',
    'Europe/Berlin',
    '2026-03-29T00:15Z',
    ['2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30'],
  ],
  // Lord Howe moves its clocks by half an hour.
  ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', ['2026-10-03T15:30', '2026-10-04T15:15']],
  // Havana skips midnight, Apia a whole day.
  ['0 0 * * *', 'America/Havana', '2026-03-07T12:00Z', ['2026-03-08T05:00', '2026-03-09T04:00']],
  ['0 0 * * *', 'Pacific/Apia', '2011-12-29T00:00Z', ['2011-12-29T10:00', '2011-12-30T10:00']],
  ['0 12 29 2 *', 'UTC', '2026-01-01T00:00Z', ['2028-02-29T12:00']],
])('%s in %s after %s', (cron, timeZone, after, expected) => {
  expect(nextOf(cron, timeZone, after, expected.length)).toEqual(expected);
});

test.each([
  ['30 2 * * *', 'Europe/Berlin', '2026-10-20T00:00Z'],
  ['*/20 * * * *', 'America/New_York', '2026-10-31T22:00Z'],
  ['0,30 1-3 * * *', 'Australia/Lord_Howe', '2026-10-02T00:00Z'],
  ['0,30 2 * * *', 'Europe/Berlin', '2026-03-27T00:00Z'],
])('the latest times of %s in %s are the next ones of before', (cron, timeZone, from) => {
  const times = timesOf({ cron, timeZone });
  const next: number[] = [];
  for (let atMs = Date.parse(from); next.length < 20; next.push(atMs)) atMs = times.next(atMs) ?? Number.NaN;
  const last = next.at(-1) ?? 0;
  expect(times.latest(last, 20).toReversed()).toEqual(next);
  expect(times.latest(last - 1, 19).toReversed()).toEqual(next.slice(0, -1));
});

test('a form receives the time as the clocks of the time zone show it', () => {
  expect(scheduledTime('Europe/Berlin', Date.parse('2026-12-31T23:30Z'))).toEqual({
    ...{ at: '2026-12-31T23:30:00.000Z', date: '2027-01-01', time: '00:30' },
  });
  expect(scheduledTime('America/New_York', Date.parse('2026-07-01T04:00Z'))).toMatchObject({
    ...{ date: '2026-07-01', time: '00:00' },
  });
});
