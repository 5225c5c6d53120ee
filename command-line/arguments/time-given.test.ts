import { expect, test } from 'vitest';
import { readArguments } from './parser.ts';
import { timeOf } from './time-given.ts';

const NOW = new Date(2026, 10, 21, 15, 4, 5);
const OPTIONS = { positionals: [], options: { since: { type: 'string', description: '' } } } as const;
const read = (text: string) => timeOf(readArguments(OPTIONS, ['--since', text]), 'since', NOW);

test.each([
  ['30m', new Date(2026, 10, 21, 14, 34, 5)],
  ['24h', new Date(2026, 10, 20, 15, 4, 5)],
  ['7d', new Date(NOW.getTime() - 7 * 86_400_000)],
  ['today', new Date(2026, 10, 21)],
  ['yesterday', new Date(2026, 10, 20)],
  ['2026-11-01', new Date(2026, 10, 1)],
  ['2026-11-01T10:00:00Z', new Date('2026-11-01T10:00:00Z')],
])('%s is a time', (text, time) => {
  expect(read(text)).toBe(time.toISOString());
});

test.each(['', 'soon', '5', '2026-13-45T00:00:00Z', '10 minutes'])('“%s” is none', (text) => {
  expect(() => read(text)).toThrow('--since must be a time');
});

test('without the option there is no time', () => {
  expect(timeOf(readArguments(OPTIONS, []), 'since')).toBeUndefined();
});
