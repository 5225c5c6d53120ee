import { expect, test } from 'vitest';
import { zoneAt } from './moment.ts';
import { withWords, wordsOf } from './tags.ts';

test('the words of a set are its lines, each once', () => {
  expect(wordsOf(' engines \n\nlooms\n')).toEqual(['engines', 'looms']);
  expect(wordsOf('')).toEqual([]);
  expect(withWords(['engines'], ['looms', 'engines', 'looms'])).toEqual(['engines', 'looms']);
});

test('a word may have commas and spaces', () => {
  expect(wordsOf('one, two\nthree')).toEqual(['one, two', 'three']);
});

test('the zone of a time is named, with its offset then', () => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  expect(zoneAt('2026-07-01T12:00:00.000Z')).toContain(timeZone);
  expect(zoneAt('invalid')).toBe(timeZone);
});
