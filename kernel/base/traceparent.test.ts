import { expect, test } from 'vitest';
import { formatTraceparent, parseTraceparent, recordedOnly, traceIdOf } from './traceparent.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const TRACEPARENT = `00-${traceId}-${spanId}-01`;

test('a formatted traceparent can be parsed', () => {
  for (const isSampled of [true, false]) {
    const place = { traceId, spanId, isSampled };
    expect(parseTraceparent(formatTraceparent(place))).toEqual(place);
  }
  expect(formatTraceparent({ traceId, spanId, isSampled: true })).toBe(TRACEPARENT);
});

test.each<[string, string]>([
  ['nothing', ''],
  ['text', 'trace'],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['upper case', TRACEPARENT.toUpperCase()],
  ['the forbidden version', `ff-${traceId}-${spanId}-01`],
  ['a version that is no number', `0x-${traceId}-${spanId}-01`],
  ['a trace id that is too short', `00-${traceId.slice(1)}-${spanId}-01`],
  ['a trace id that is too long', `00-${traceId}0-${spanId}-01`],
  ['a span id that is too short', `00-${traceId}-${spanId.slice(1)}-01`],
  ['no flags', `00-${traceId}-${spanId}`],
  ['flags of one digit', `00-${traceId}-${spanId}-1`],
  ['more than the version has', `00-${traceId}-${spanId}-01-more`],
  ['a dash at the end', `00-${traceId}-${spanId}-01-`],
  ['more than a later version could have, without a dash', `01-${traceId}-${spanId}-01more`],
  ['two of them', `${TRACEPARENT}, ${TRACEPARENT}`],
  ['blanks around it', ` ${TRACEPARENT} `],
  ['a line break', `${TRACEPARENT}\n`],
  ['a later version of great length', `01-${traceId}-${spanId}-01-${'x'.repeat(1_000)}`],
])('%s is no traceparent', (_what, text) => {
  expect(parseTraceparent(text)).toBeUndefined();
  expect(traceIdOf(text)).toBeUndefined();
  expect(recordedOnly(text)).toBeUndefined();
});

test('no header is no traceparent', () => {
  expect(parseTraceparent(undefined)).toBeUndefined();
});

test('of a later version the known part is read, and written in our version', () => {
  for (const later of [`01-${traceId}-${spanId}-01`, `cc-${traceId}-${spanId}-01-what-will-be`]) {
    const place = parseTraceparent(later);
    expect(place).toEqual({ traceId, spanId, isSampled: true });
    expect(place && formatTraceparent(place)).toBe(TRACEPARENT);
    expect(recordedOnly(later)).toBeUndefined();
  }
});

test.each([
  ['00', false],
  ['01', true],
  ['02', false],
  ['03', true],
  ['ff', true],
])('with the flags %s it is recorded: %s', (flags, isSampled) => {
  expect(parseTraceparent(`00-${traceId}-${spanId}-${flags}`)?.isSampled).toBe(isSampled);
});

test('only a recorded trace is stored', () => {
  expect(recordedOnly(TRACEPARENT)).toBe(TRACEPARENT);
  expect(recordedOnly(`00-${traceId}-${spanId}-00`)).toBeUndefined();
});
