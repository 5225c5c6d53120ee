import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { SealBroken, seal, unseal } from './seal.ts';

const key = createSecretKey(randomBytes(32));
const plain = Buffer.from('plain');

test('opens with the same key and binding', () => {
  expect(unseal(key, seal(key, plain, 'here'), 'here')).toEqual(plain);
  expect(unseal(key, seal(key, Buffer.alloc(0), 'here'), 'here')).toEqual(Buffer.alloc(0));
});

test('has a nonce and a tag around the ciphertext', () => {
  expect(seal(key, plain, 'here')).toHaveLength(12 + plain.length + 16);
});

test('does not open elsewhere, with another key, or shortened', () => {
  const sealed = seal(key, plain, 'here');
  expect(() => unseal(key, sealed, 'there')).toThrow(SealBroken);
  expect(() => unseal(createSecretKey(randomBytes(32)), sealed, 'here')).toThrow(SealBroken);
  expect(() => unseal(key, sealed.subarray(0, -1), 'here')).toThrow(SealBroken);
  expect(() => unseal(key, sealed.subarray(0, 10), 'here')).toThrow(SealBroken);
});
