import { expect, test } from 'vitest';
import { digestOfToken, isPersonalToken, newPersonalToken } from './personal-token.ts';

/** By Python’s zlib. */
const CRC_OF_KNOWN = 313_760_197;
const KNOWN = 'annals_pat_0000000000000000000000000000000000000000000';

test('a token has a prefix, 43 random characters and a checksum, as documented for scanners', () => {
  const token = newPersonalToken();
  expect(token).toMatch(/^annals_pat_[0-9A-Za-z]{49}$/);
  expect(isPersonalToken(token)).toBe(true);
  expect(newPersonalToken()).not.toBe(token);
});

test('a token with a changed character is invalid', () => {
  const token = newPersonalToken();
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'x' ? 'y' : 'x';
    expect(isPersonalToken(token.slice(0, at) + other + token.slice(at + 1)), String(at)).toBe(false);
  }
  for (const text of [token.slice(0, -1), `${token}0`, ` ${token}`, '', KNOWN])
    expect(isPersonalToken(text)).toBe(false);
});

test('the checksum is the CRC-32 of the text before it, in base 62', () => {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let text = '';
  for (let rest = CRC_OF_KNOWN; rest > 0; rest = Math.floor(rest / 62)) text = `${digits[rest % 62]}${text}`;
  expect(isPersonalToken(`${KNOWN}${text.padStart(6, '0')}`)).toBe(true);
});

test('the digest is the plain SHA-256, which every check of a token has at hand', () => {
  expect(digestOfToken('annals')).toBe('RPJUaKhGevos6aCWs3KFmTDim7SwCbZBzA8o5mOLyG8');
});
