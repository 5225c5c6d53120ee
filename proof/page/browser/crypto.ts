import { Buffer } from './buffer.ts';
import { isSignedByEd25519 } from './ed25519.ts';
import { sha256 } from './sha-2.ts';

/** The part of `node:crypto` that the checks of proofs use, for browsers. */

type Bytes = ReturnType<typeof Buffer.from>;

export const hash = (_algorithm: 'sha256', data: string | Uint8Array, _encoding: 'binary'): string =>
  Buffer.from(sha256(Buffer.from(data))).toString('binary');

export const createHash = (_algorithm: 'sha256') => {
  const parts: Uint8Array[] = [];
  return {
    update(data: string | Uint8Array) {
      parts.push(Buffer.from(data));
      return this;
    },
    digest: (): Bytes => Buffer.from(sha256(Buffer.concat(parts))),
  };
};

type Jwk = { readonly kty: string; readonly crv?: string; readonly x?: string };
type Key = { readonly publicKey: Bytes };

/** Keys of other kinds are not checked here. */
export const createPublicKey = ({ key }: { readonly key: Jwk; readonly format: 'jwk' }): Key => {
  if (key.crv !== 'Ed25519' || key.x === undefined) throw new TypeError('This page checks Ed25519 alone.');
  return { publicKey: Buffer.from(key.x, 'base64url') };
};

export const verify = (_algorithm: null, data: Uint8Array, key: Key, signature: Uint8Array): boolean =>
  isSignedByEd25519(key.publicKey, data, signature);
