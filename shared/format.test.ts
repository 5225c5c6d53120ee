import { expect, test } from 'vitest';
import { bytesText, plural, rateText, shortText, spanText } from './format.ts';

test.each([
  [0, '0 s'],
  [0.02, '0 s'],
  [1.26, '1.3 s'],
  [42.4, '42 s'],
  [60, '1 min'],
  [95, '1 min 35 s'],
  [3_600, '1 h'],
  [9_000, '2 h 30 min'],
  [90_000, '1 d 1 h'],
])('a span of %d seconds is “%s”', (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});

test.each([
  [0, '0 B'],
  [1_023, '1,023 B'],
  [1_536, '1.5 KiB'],
  [1_081_344, '1 MiB'],
  [5 * 1_024 ** 4, '5 TiB'],
])('%d bytes are “%s”', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test('rates have a decimal digit only if it matters', () => {
  expect([0.04, 1.25, 1_234.5].map(rateText)).toEqual(['0/s', '1.3/s', '1,235/s']);
});

test('one item is singular', () => {
  expect([plural(1, 'item'), plural(1_200, 'item'), plural(2, 'delivery was', 'deliveries were')]).toEqual([
    '1 item',
    '1,200 items',
    '2 deliveries were',
  ]);
});

test('long text is cut to its beginning', () => {
  expect([shortText('short'), shortText('0123456789', 5)]).toEqual(['short', '0123…']);
});
