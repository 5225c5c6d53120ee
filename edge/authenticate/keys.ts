import type { CryptoKey, JWK } from 'jose';
import { importJWK } from 'jose/key/import';
import * as z from 'zod';
import { getJson } from '#edge/http/get-json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';

/** Loads the key set of the authorization server (RFC 7517). */
export type LoadKeys = () => Promise<unknown>;

/** The keys by which tokens are verified. */
export type VerificationKeys = {
  /**
   * Undefined if the authorization server has no such key. Throws `unavailable` if the server has never
   * answered, or not for too long.
   */
  find(kid: string): Promise<CryptoKey | undefined>;
  /** Whether the key was in the set at its last read. */
  has(kid: string): boolean;
};

/** A cached set is used for this long before it is read again, in the background. */
const REFRESH_MS = 5 * 60_000;
/** An unknown key triggers a read of the set, but not more often: anyone can name an unknown key. */
const COOLDOWN_MS = 5_000;
/** Cached keys outlive an outage of the authorization server by this much. Its keys change by the month. */
const STALE_MAX_MS = 60 * 60_000;
const KEYS_MAX = 50;

const KeySet = z.object({
  keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().optional() })).max(KEYS_MAX),
});

type Options = { readonly load: LoadKeys; readonly log: Log; readonly clock: Pick<Clock, 'elapsedMs'> };

export const createVerificationKeys = ({ load, log, clock }: Options): VerificationKeys => {
  let keys: ReadonlyMap<string, CryptoKey> = new Map();
  let readAtMs = -Infinity;
  let triedAtMs = -Infinity;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    triedAtMs = clock.elapsedMs();
    try {
      keys = await importKeys(await load());
      readAtMs = triedAtMs;
    } catch (err) {
      log.warn(
        { err },
        'The keys of the authorization server could not be read; the keys known before stay valid.',
      );
    }
  };
  const refresh = async (cooldownMs: number): Promise<void> => {
    if (reading === undefined && clock.elapsedMs() - triedAtMs < cooldownMs) return;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  };
  return {
    has: (kid) => keys.has(kid),
    async find(kid) {
      const ageMs = clock.elapsedMs() - readAtMs;
      if (!keys.has(kid) || ageMs > STALE_MAX_MS) await refresh(COOLDOWN_MS);
      else if (ageMs > REFRESH_MS) void refresh(COOLDOWN_MS);
      if (clock.elapsedMs() - readAtMs > STALE_MAX_MS)
        throw new HttpProblem('unavailable', { headers: { 'Retry-After': '5' } });
      return keys.get(kid);
    },
  };
};

/** Tokens are signed by ES256 alone, so other keys are ignored. */
const importKeys = async (loaded: unknown): Promise<ReadonlyMap<string, CryptoKey>> => {
  const ours = KeySet.parse(loaded).keys.filter(
    ({ kty, crv, use }) => kty === 'EC' && crv === 'P-256' && (use ?? 'sig') === 'sig',
  );
  const entries = await Promise.all(
    ours.map(async ({ kid, kty, ...rest }) => [kid ?? '', await importEcKey({ kty, ...rest })] as const),
  );
  return new Map(entries);
};

/** Only the public part, whatever arrives. */
const importEcKey = async ({ kty, crv, x, y }: JWK & { kty: string }): Promise<CryptoKey> => {
  const key = await importJWK({ kty, crv, x, y } as JWK, 'ES256');
  if (key instanceof Uint8Array) throw new Error('the key is a shared secret');
  return key;
};

const FETCH_TIMEOUT_MS = 5_000;

/** Reads the key set of an authorization server in another process. */
export const fetchKeys =
  (url: string): LoadKeys =>
  () =>
    getJson(url, { timeoutMs: FETCH_TIMEOUT_MS });
