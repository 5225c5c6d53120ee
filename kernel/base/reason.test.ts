import { expect, test } from 'vitest';
import { REASON_CHARACTERS_MAX, reason } from './reason.ts';

test.each([
  'Litigation 2026-117',
  'Étiquette illisible, 50 %',
  '理由',
  '7',
  `w${'😀'.repeat(REASON_CHARACTERS_MAX - 1)}`,
])('says why: %s', (text) => {
  expect(reason.parse(`  ${text} `)).toBe(text);
});

test.each([
  ['nothing', ''],
  ['blanks', ' \u00a0 '],
  ['what nobody sees', '\u200b'],
  ['an invisible letter', '…\u3164'],
  ['punctuation', '…'],
  ['a picture', '😀'],
  ['two lines', 'two\nlines'],
  ['another direction', 'abc\u202edef'],
  ['half of a character', 'a\ud800'],
  ['one character more', 'x'.repeat(REASON_CHARACTERS_MAX + 1)],
  ['a number', 5],
] as const)('is no reason: %s', (_, text) => {
  expect(reason.safeParse(text).success).toBe(false);
});
