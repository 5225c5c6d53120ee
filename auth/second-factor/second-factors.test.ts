import { expect, test } from 'vitest';
import { newRecoveryCodes, recoveryCodeIn } from './recovery-codes.ts';

test('ten different codes are made', () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
});

test('a code is the same however it was typed', () => {
  for (const typed of [
    '0a1b-2c3d-4e5f-6g7h',
    ' OAlB 2C3D 4E5F 6G7H ',
    '0a1b2c3d4e5f6g7h',
    'OAIB-2c3d-4e5f-6g7h',
  ])
    expect(recoveryCodeIn(typed)).toBe('0a1b2c3d4e5f6g7h');
});

test.each(['', '123456', '0a1b-2c3d-4e5f-6g7', '0a1b-2c3d-4e5f-6g7hh', '0a1b-2c3d-4e5f-6g7u'])(
  '“%s” is none',
  (typed) => expect(recoveryCodeIn(typed)).toBeUndefined(),
);
