import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { deriveKey, parseMasterKey } from './master-key.ts';

const bytes = randomBytes(32);

test.each(['base64', 'base64url'] as const)('is read from %s', (encoding) => {
  expect(parseMasterKey(bytes.toString(encoding)).export()).toEqual(bytes);
  expect(parseMasterKey(`${bytes.toString(encoding)}\n`).export()).toEqual(bytes);
});

test.each([
  '',
  'short',
  randomBytes(31).toString('base64'),
  randomBytes(33).toString('base64'),
  bytes.toString('hex'),
])('is refused with a sentence that says what to do: %j', (text) => {
  expect(() => parseMasterKey(text)).toThrow(
    'MASTER_KEY must be 32 random bytes in base64: make one with `openssl rand -base64 32`.',
  );
});

test('shows nothing of itself when it is logged', () => {
  expect(inspect(parseMasterKey(bytes.toString('base64')))).not.toContain(
    bytes.toString('base64').slice(0, 8),
  );
});

test('derives the same key for a purpose, and another for another', () => {
  const master = parseMasterKey(Buffer.alloc(32, 7).toString('base64'));
  expect(deriveKey(master, 'person-key')).toEqual(deriveKey(master, 'person-key'));
  expect(deriveKey(master, 'person-key')).toHaveLength(32);
  expect(deriveKey(master, 'person-key')).not.toEqual(deriveKey(master, 'email-claim'));
});

test('derives the same keys for ever, because stream names and wrapped keys depend on them', () => {
  const master = parseMasterKey(Buffer.alloc(32, 7).toString('base64'));
  expect(deriveKey(master, 'email-claim').toString('hex')).toMatchInlineSnapshot(
    `"b90b26518465c0fd5ebcec0cb5968b33927e3720bcc5491e1cc7b4a1b1b914ec"`,
  );
  expect(deriveKey(master, 'person-key').toString('hex')).toMatchInlineSnapshot(
    `"bb8c63257e461ca8505be3b0cb8eb6aee485d83f668b2d82141dab6d500d5faf"`,
  );
});
