import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM as nonce, ciphertext, tag. The binding is not stored and must be given again to open it, so
 * that a sealed value cannot replace another. The nonce is random: far fewer than 2^32 values are sealed
 * with one key.
 */
export const seal = (key: KeyObject, plain: Uint8Array, boundTo: string): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
    Buffer.from(boundTo),
  );
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
};

/** Throws `SealBroken` if the key, the binding or any bit differs. */
export const unseal = (key: KeyObject, sealed: Uint8Array, boundTo: string): Buffer => {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new SealBroken();
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(sealed.length - TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(tag);
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
  try {
    // This mode holds back no output: `final` only checks the tag.
    decipher.final();
    return plain;
  } catch (cause) {
    throw new SealBroken({ cause });
  }
};

/** Sealed with another key or binding, or changed since. */
export class SealBroken extends Error {
  readonly code = 'seal_broken';

  constructor(options?: ErrorOptions) {
    super('The sealed value cannot be decrypted', options);
    this.name = 'SealBroken';
  }
}
