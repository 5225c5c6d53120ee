import type { KeyObject } from 'node:crypto';
import type { UserId } from '#shared/brands.ts';

/** The key of one person's data. A `KeyObject` shows nothing of itself when it is logged. */
export type PersonKey = KeyObject;

/**
 * Keeps one AES-256 key per person, outside the event log: destroying it erases what was sealed with it,
 * everywhere and in every copy of the log, and for good.
 */
export type KeyStore = AsyncDisposable & {
  /**
   * The person's key, made at first need; all processes get the same one. Throws `KeyDestroyed` after a
   * destruction.
   */
  obtain(subject: UserId): Promise<PersonKey>;

  /** The keys that there are; a person who never had one is absent from the map. */
  find(subjects: Iterable<UserId>): Promise<ReadonlyMap<UserId, PersonKey | 'destroyed'>>;

  /** Destroys the key, and any chance of ever making one for this person again. Repeating it is harmless. */
  destroy(subject: UserId): Promise<void>;
};

/** The person was erased: nothing can be sealed for them any more. */
export class KeyDestroyed extends Error {
  readonly code = 'key_destroyed';
  readonly subject: UserId;

  constructor(subject: UserId) {
    super(`The key of person ${subject} was destroyed`);
    this.name = 'KeyDestroyed';
    this.subject = subject;
  }
}

/** A key is there and cannot be unwrapped. */
export class MasterKeyMismatch extends Error {
  readonly code = 'master_key_mismatch';

  constructor(what: string, options?: ErrorOptions) {
    super(`MASTER_KEY does not fit ${what}: give the one that the data was written with`, options);
    this.name = 'MasterKeyMismatch';
  }
}
