import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#shared/log.ts';
import { readSigningKeys, type SigningKeyDependencies, type SigningKeys } from './signing-keys.ts';

const POLL_MS = 5_000;

type Following = SigningKeyDependencies & {
  readonly log: Log;
  readonly pollMs?: number | undefined;
  /** Told of the first keys, and then of every change. */
  onKeys(keys: SigningKeys): void;
};

/** Keeps a process at the keys that are published now. The first reading must succeed; after that it goes on with what it has. */
export const followSigningKeys = async ({ log, pollMs = POLL_MS, onKeys, ...dependencies }: Following): Promise<AsyncDisposable> => {
  let known = await readSigningKeys(dependencies);
  onKeys(known);
  const stopping = new AbortController();
  const look = async () => {
    const keys = await readSigningKeys(dependencies);
    if (namesOf(keys) === namesOf(known)) return;
    known = keys;
    onKeys(keys);
    log.info({ signer: keys[0]?.kid, published: keys.length }, 'The signing keys have changed.');
  };
  const following = (async () => {
    while (!stopping.signal.aborted) {
      await delay(pollMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      await look().catch((err: unknown) => log.warn({ err }, 'The signing keys could not be read.'));
    }
  })();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await following;
    },
  };
};

const namesOf = (keys: SigningKeys): string => keys.map(({ kid }) => kid).join(' ');
