import { createSecretKey, randomBytes } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import { KeyDestroyed, type KeyStore, type PersonKey } from '../key-store.ts';

const KEY_BYTES = 32;

/** Keys that last as long as the process, for tests. It passes the contract suite. */
export const memoryKeyStore = (
  makeKey: (subject: UserId) => PersonKey = () => createSecretKey(randomBytes(KEY_BYTES)),
): KeyStore => {
  const keys = new Map<UserId, PersonKey | 'destroyed'>();
  return {
    async obtain(subject) {
      const key = keys.get(subject) ?? makeKey(subject);
      if (key === 'destroyed') throw new KeyDestroyed(subject);
      keys.set(subject, key);
      return key;
    },
    async find(subjects) {
      return new Map(
        [...subjects].flatMap((subject) => {
          const key = keys.get(subject);
          return key === undefined ? [] : [[subject, key]];
        }),
      );
    },
    async destroy(subject) {
      keys.set(subject, 'destroyed');
    },
    async [Symbol.asyncDispose]() {},
  };
};
