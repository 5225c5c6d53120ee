import { describe, expect, test } from 'vitest';
import { sampledMs, untilNextSampleMs } from './sample-times.ts';

describe('the next sample is taken at the next multiple of ten seconds', () => {
  test.each([
    ['in the middle', 15_000, 5_000],
    ['right after a sample', 20_001, 9_999],
    ['when the timer fired in time', 20_000, 10_000],
    ['when the timer fired early', 19_999, 10_001],
  ])('%s', (_when, nowMs, expected) => expect(untilNextSampleMs(nowMs)).toBe(expected));
});

describe('a sample counts the deliveries', () => {
  test.each<[string, number | undefined, number]>([
    ['of ten seconds, if it is the first', undefined, 10_000],
    ['since the one before', 12_000, 12_000],
    ['of one second, if the clock was set back', -5_000, 1_000],
    ['of twenty seconds at most', 60_000, 20_000],
  ])('%s', (_of, sinceMs, expected) => {
    const at = new Date(1_000_000);
    const before = sinceMs === undefined ? undefined : new Date(at.getTime() - sinceMs);
    expect(sampledMs(at, before)).toBe(expected);
  });
});
