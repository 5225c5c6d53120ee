import { describe, expect, test } from 'vitest';
import type { Step } from './load.ts';
import { adviceOf } from './report.ts';
import { reasonToStop, saturationOf } from './saturation.ts';

const step = (connections: number, perSecond: number, more: Partial<Step> = {}): Step => ({
  ...{
    connections,
    perSecond,
    seconds: 1,
    requests: perSecond,
    p50Ms: 1,
    p95Ms: 2,
    p99Ms: 3,
    failures: {},
    byPart: {},
    busy: 0.2,
  },
  ...more,
});
const NONE = { p99MaxMs: undefined };

describe('the load increases', () => {
  test('as long as the throughput grows', () => {
    expect(reasonToStop([step(1, 100), step(2, 190), step(4, 300)], NONE)).toBeUndefined();
  });
  test('past one step without growth, but not past two', () => {
    const steps = [step(1, 100), step(2, 190), step(4, 192), step(8, 191)];
    expect(reasonToStop(steps.slice(0, 3), NONE)).toBeUndefined();
    expect(reasonToStop(steps, NONE)).toBe('throughput');
  });
  test('until the 99th percentile is above the limit', () => {
    expect(reasonToStop([step(1, 100, { p99Ms: 210 })], { p99MaxMs: 200 })).toBe('p99');
  });
  test('until more than one request in a hundred fails', () => {
    expect(reasonToStop([step(1, 100, { failures: { 503: 1 } })], NONE)).toBeUndefined();
    expect(reasonToStop([step(1, 100, { failures: { 503: 1, 429: 1 } })], NONE)).toBe('failures');
  });
});

test('saturation is the fewest connections that reach nearly the maximum', () => {
  const steps = [step(1, 100), step(2, 190), step(4, 196), step(8, 150)];
  expect(saturationOf(steps, NONE, 'throughput').at?.connections).toBe(2);
});

test('a step beyond the limits does not count, whatever its throughput', () => {
  const steps = [step(1, 100), step(2, 300, { p99Ms: 500 })];
  expect(saturationOf(steps, { p99MaxMs: 200 }, 'p99').at?.connections).toBe(1);
  expect(saturationOf(steps.slice(1), { p99MaxMs: 200 }, 'p99').at).toBeUndefined();
});

test('the advice follows from the results', () => {
  const seen = {
    url: 'https://annals.example',
    steps: [step(1, 100, { failures: { 429: 3 }, busy: 0.99 })],
    saturation: { at: undefined, reason: 'failures' },
    subscribers: { open: 0, refused: { 429: 2 }, messages: 0 },
    lagSeconds: 4,
  } as const;
  const advice = adviceOf(seen).join('\n');
  for (const word of [
    'This program was the bottleneck',
    'RATE_LIMIT',
    'STREAMS_PER_OWNER_MAX',
    'EVENT_LOG_URL',
  ])
    expect(advice).toContain(word);
  expect(advice).not.toContain('share the processors');
});
