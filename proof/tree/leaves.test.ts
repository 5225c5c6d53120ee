import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveKey, parseMasterKey } from '#shared/keys/master-key.ts';
import { leavesOf } from './leaves.ts';

test('the salt of an event is the HMAC of its number and its hash', () => {
  const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
  const key = deriveKey(masterKey, 'proof-salt');
  const { saltOf } = leavesOf(masterKey);
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(fc.nat(Number.MAX_SAFE_INTEGER), hash, (index, hash) => {
      const number = Buffer.alloc(8);
      number.writeBigUInt64BE(BigInt(index));
      const expected = createHmac('sha256', key).update(number).update(hash).digest('hex');
      expect(saltOf(index, hash).toString('hex')).toBe(expected);
    }),
  );
});
