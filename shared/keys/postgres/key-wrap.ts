import { createSecretKey, type KeyObject } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import { MasterKeyMismatch, type PersonKey } from '../key-store.ts';
import { deriveKey, type MasterKey } from '../master-key.ts';
import { SealBroken, seal, unseal } from '../seal.ts';

/**
 * Wraps persons’ keys with a key derived from the master key; each is bound to its person, so that rows
 * cannot be exchanged.
 */
export type KeyWrap = {
  wrap(subject: UserId, key: PersonKey): Buffer;
  unwrap(subject: UserId, wrapped: Buffer): PersonKey;
  readonly checkValue: () => Buffer;
  /** Throws `MasterKeyMismatch` if the value was made with another master key. */
  check(value: Buffer): void;
};

const CHECK_BINDING = 'master-key-check';

export const createKeyWrap = (masterKey: MasterKey): KeyWrap => {
  const wrappingKey = createSecretKey(deriveKey(masterKey, 'person-key'));
  return {
    wrap: (subject, key) => seal(wrappingKey, key.export(), bindingOf(subject)),
    unwrap: (subject, wrapped) =>
      createSecretKey(
        open(wrappingKey, wrapped, { boundTo: bindingOf(subject), what: `the key of person ${subject}` }),
      ),
    checkValue: () => seal(wrappingKey, Buffer.alloc(0), CHECK_BINDING),
    check: (value) =>
      void open(wrappingKey, value, { boundTo: CHECK_BINDING, what: 'the keys in this database' }),
  };
};

const bindingOf = (subject: UserId): string => `person-key:${subject}`;

const open = (
  key: KeyObject,
  sealed: Buffer,
  { boundTo, what }: { boundTo: string; what: string },
): Buffer => {
  try {
    return unseal(key, sealed, boundTo);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw new MasterKeyMismatch(what, { cause: error });
  }
};
