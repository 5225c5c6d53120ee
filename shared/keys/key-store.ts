import type { KeyObject } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';

/** The key of one person’s data. Logging a `KeyObject` reveals nothing. */
export type PersonKey = KeyObject;

/**
 * Stores one AES-256 key per person, outside the event log: destroying it permanently erases all data sealed
 * with it, everywhere and in every copy of the log.
 */
export type KeyStore = AsyncDisposable & {
  /**
   * The person’s key, created at first need; all processes get the same one. Throws `KeyDestroyed` after a
   * destruction.
   */
  obtain(subject: UserId): Promise<PersonKey>;

  /** The present keys; a person who never had one is absent from the map. */
  find(subjects: Iterable<UserId>): Promise<ReadonlyMap<UserId, PersonKey | 'destroyed'>>;

  /** Destroys the key, and prevents another one for this person for ever. Repeating it is harmless. */
  destroy(subject: UserId): Promise<void>;
};

/** The person was erased: no data can be sealed for them any more. */
export class KeyDestroyed extends Error {
  readonly code = 'key_destroyed';
  readonly subject: UserId;

  constructor(subject: UserId) {
    super(`The key of person ${subject} was destroyed`);
    this.name = 'KeyDestroyed';
    this.subject = subject;
  }
}

/** A key exists but cannot be unwrapped. */
export class MasterKeyMismatch extends Error {
  readonly code = 'master_key_mismatch';

  constructor(what: string, options?: ErrorOptions) {
    super(`MASTER_KEY does not match ${what}: set the key that the data was written with`, options);
    this.name = 'MasterKeyMismatch';
  }
}
