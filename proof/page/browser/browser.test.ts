import { createHash, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Buffer as ForBrowsers } from './buffer.ts';
import { isSignedByEd25519 } from './ed25519.ts';
import { sha256, sha512 } from './sha-2.ts';

const bytes = fc.uint8Array({ maxLength: 400 });

test('SHA-256 and SHA-512 are those of Node', () => {
  fc.assert(
    fc.property(bytes, (data) => {
      expect([...sha256(data)]).toEqual([...createHash('sha256').update(data).digest()]);
      expect([...sha512(data)]).toEqual([...createHash('sha512').update(data).digest()]);
    }),
    { numRuns: 200 },
  );
  for (const length of [55, 56, 63, 64, 111, 112, 119, 127, 128]) {
    const data = randomBytes(length);
    expect([...sha256(data)]).toEqual([...createHash('sha256').update(data).digest()]);
    expect([...sha512(data)]).toEqual([...createHash('sha512').update(data).digest()]);
  }
});

test('a signature is right exactly if it is for Node', () => {
  fc.assert(
    fc.property(bytes, fc.nat(95), fc.integer({ min: 1, max: 255 }), (data, place, change) => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
      const signature = sign(null, data, privateKey);
      expect(isSignedByEd25519(key, data, signature)).toBe(true);
      const both = Buffer.concat([key, signature]);
      both[place] = (both[place] ?? 0) ^ change;
      const [otherKey, other] = [both.subarray(0, 32), both.subarray(32)];
      const isRight = (() => {
        try {
          const x = otherKey.toString('base64url');
          const jwk = { kty: 'OKP', crv: 'Ed25519', x } as const;
          return verify(null, data, { key: jwk, format: 'jwk' }, other);
        } catch {
          return false;
        }
      })();
      expect(isSignedByEd25519(otherKey, data, other)).toBe(isRight);
    }),
    { numRuns: 20 },
  );
});

test('the signature of a long text is checked too', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const text = randomBytes(200_000);
  expect(isSignedByEd25519(key, text, sign(null, text, privateKey))).toBe(true);
});

test('bytes are read and written as Node does', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (data) => {
      const [ours, nodes] = [ForBrowsers.from(data), Buffer.from(data)];
      for (const encoding of ['hex', 'base64', 'base64url', 'utf8'] as const)
        expect(ours.toString(encoding)).toBe(nodes.toString(encoding));
      for (const encoding of ['base64', 'base64url'] as const)
        expect([...ForBrowsers.from(nodes.toString(encoding), encoding)]).toEqual([...nodes]);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii' }), (text) => {
      expect([...ForBrowsers.from(text)]).toEqual([...Buffer.from(text)]);
      expect([...ForBrowsers.from(text, 'base64')]).toEqual([...Buffer.from(text, 'base64')]);
    }),
  );
});
