import { createSecretKey, type KeyObject } from 'node:crypto';
import type { UserId } from '#shared/brands.ts';
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

const CHECK_PLACE = 'master-key-check';

export const createKeyWrap = (masterKey: MasterKey): KeyWrap => {
  const wrappingKey = createSecretKey(deriveKey(masterKey, 'person-key'));
  return {
    wrap: (subject, key) => seal(wrappingKey, key.export(), placeOf(subject)),
    unwrap: (subject, wrapped) =>
      createSecretKey(
        open(wrappingKey, wrapped, { place: placeOf(subject), what: `the key of person ${subject}` }),
      ),
    checkValue: () => seal(wrappingKey, Buffer.alloc(0), CHECK_PLACE),
    check: (value) =>
      void open(wrappingKey, value, { place: CHECK_PLACE, what: 'the keys in this database' }),
  };
};

const placeOf = (subject: UserId): string => `person-key:${subject}`;

const open = (key: KeyObject, sealed: Buffer, { place, what }: { place: string; what: string }): Buffer => {
  try {
    return unseal(key, sealed, place);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    throw new MasterKeyMismatch(what, { cause: error });
  }
};
