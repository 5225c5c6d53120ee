import { expect, test } from 'vitest';
import { joined, lagOf, queuesOf, seriesInWords, throughputOf } from './series.ts';

const sample = (second: number, more: object = {}) => ({
  ...{
    at: new Date(second * 1_000).toISOString(),
    events: 0,
    followers: {},
    parked: 0,
    due: 0,
    dead: 0,
    deliveredPerSecond: 0,
  },
  ...more,
});

test('events per second are a mean since the previous sample; null for the first, and after the log became shorter', () => {
  const samples = [
    sample(0, { events: 100 }),
    sample(10, { events: 150 }),
    sample(30, { events: 170 }),
    sample(40, { events: 3 }),
  ];
  expect(throughputOf(samples)).toMatchObject({
    times: [0, 10, 30, 40],
    lines: [{ label: 'Events', values: [null, 5, 1, null] }, { label: 'Deliveries' }],
  });
});

test('the lag shows the five followers with the most lag, the worst first', () => {
  const followers = { a: 0, b: 7, c: null, d: 1, e: 2, f: 3, g: 4 };
  const { lines } = lagOf([sample(0, { followers }), sample(10, { followers: { d: 9 } })]);
  expect(lines.map(({ label }) => label)).toEqual(['d', 'b', 'g', 'f', 'e']);
  expect(lines[0]?.values).toEqual([1, 9]);
  expect(lines[1]?.values).toEqual([7, null]);
});

test('the lag of the projector is always shown, because it determines the age of reads', () => {
  const followers = { a: 1, b: 1, c: 1, d: 1, e: 1, projector: 0 };
  expect(lagOf([sample(0, { followers })]).lines.map(({ label }) => label)).toEqual([
    'projector',
    'a',
    'b',
    'c',
    'd',
  ]);
});

test('new samples are appended once, and those older than the span are dropped', () => {
  const known = [sample(0), sample(10), sample(20)];
  expect(joined(known, [sample(20), sample(30)], 20).map(({ at }) => Date.parse(at) / 1_000)).toEqual([
    10, 20, 30,
  ]);
  expect(joined([], [], 20)).toEqual([]);
});

test('a plot can be described in words', () => {
  const series = queuesOf([sample(0, { due: 8 }), sample(10, { due: 2 })]);
  expect(seriesInWords(series, String)).toBe(
    'Due: now 2, at most 8; Dead: now 0, at most 0; Parked: now 0, at most 0',
  );
  expect(seriesInWords({ times: [], lines: [{ label: 'Events', values: [] }] }, String)).toBe(
    'Events: unknown',
  );
});
