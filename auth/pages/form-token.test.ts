import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { createFormTokens } from './form-token.ts';

const tokens = createFormTokens(parseMasterKey(randomBytes(32).toString('base64')));
const token = tokens.issue('sign-in', ['uid']);

test('a token is valid only for its form and its binding', () => {
  expect(tokens.verify(token, 'sign-in', ['uid'])).toBe(true);
});

test.each<[string, () => boolean]>([
  ['another interaction', () => tokens.verify(token, 'sign-in', ['other'])],
  ['another form', () => tokens.verify(token, 'consent', ['uid'])],
  ['one value more', () => tokens.verify(token, 'sign-in', ['uid', ''])],
  [
    'values that run together',
    () => tokens.verify(tokens.issue('sign-up', ['ab', 'c']), 'sign-up', ['a', 'bc']),
  ],
  ['a shorter token', () => tokens.verify(token.slice(0, -2), 'sign-in', ['uid'])],
  ['no token', () => tokens.verify('', 'sign-in', ['uid'])],
  ['what is no base64', () => tokens.verify('é'.repeat(43), 'sign-in', ['uid'])],
  [
    'the token of another installation',
    () =>
      createFormTokens(parseMasterKey(randomBytes(32).toString('base64'))).verify(token, 'sign-in', ['uid']),
  ],
])('it is not good for %s', (_what, verify) => expect(verify()).toBe(false));
