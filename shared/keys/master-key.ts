import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/**
 * The installation’s one secret; every other key is derived from it or wrapped with a derived key. It is
 * never logged.
 */
export type MasterKey = KeyObject;

const KEY_BYTES = 32;
/** 32 bytes in base64 are 43 digits and one padding character. */
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Reads 32 bytes in base64 or base64url; throws a sentence for the operator otherwise. */
export const parseMasterKey = (text: string): MasterKey => {
  const digits = text.trim();
  const bytes = Buffer.from(digits, 'base64');
  if (!BASE64.test(digits) || bytes.length !== KEY_BYTES) {
    throw new Error('MASTER_KEY must be 32 random bytes in base64: make one with `openssl rand -base64 32`.');
  }
  return createSecretKey(bytes);
};

/** The purposes of derived keys. The names are storage: another name is another key. */
type KeyPurpose =
  | 'person-key'
  | 'email-claim'
  | 'limit-claim'
  | 'command-digest'
  | 'gateway-assertion'
  | 'auth-record'
  | 'auth-lookup'
  | 'auth-cookie'
  | 'dpop-nonce'
  | 'signing-key'
  | 'form-token'
  | 'attempt-key'
  | 'known-device'
  | 'first-minute'
  | 'audit-key'
  | 'upload-address'
  | 'snapshot'
  | 'row-proof'
  | 'event-mac'
  | 'proof-salt'
  | 'signature';

/** The key of 32 bytes for one purpose, by HKDF-SHA256 (RFC 5869); it reveals nothing about the others. */
export const deriveKey = (master: MasterKey, purpose: KeyPurpose): Buffer =>
  Buffer.from(hkdfSync('sha256', master, Buffer.alloc(0), `annals/${purpose}`, KEY_BYTES));
