import { createSecretKey, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { UserId } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import { KeyDestroyed, type KeyStore, MasterKeyMismatch, type PersonKey } from '../key-store.ts';
import type { MasterKey } from '../master-key.ts';
import { createKeyWrap, type KeyWrap } from './key-wrap.ts';
import { destroyKey, obtainKey, selectKeys, settleCheckValue } from './statements.ts';

type Options = {
  /** Owned by the caller: it outlives the store. */
  readonly pool: pg.Pool;
  readonly masterKey: MasterKey;
  /**
   * A destruction by another process takes effect here after at most this time and one query; by this process
   * at once.
   */
  readonly cacheLifetimeMs?: number;
  readonly cacheKeysMax?: number;
};

const CACHE_LIFETIME_MS = 5_000;
/** About 500 bytes each. */
const CACHE_KEYS_MAX = 20_000;
const SUBJECTS_PER_QUERY_MAX = 1_000;
const KEY_BYTES = 32;

/** Updates the tables, and throws `MasterKeyMismatch` if the database was used with another master key. */
export const openPostgresKeyStore = async ({
  pool,
  masterKey,
  cacheLifetimeMs = CACHE_LIFETIME_MS,
  cacheKeysMax = CACHE_KEYS_MAX,
}: Options): Promise<KeyStore> => {
  await migrate(pool, 'keys', new URL('./', import.meta.url));
  const wrap = createKeyWrap(masterKey);
  const checkValue = await settleCheckValue(pool, wrap.checkValue());
  if (checkValue === undefined) throw new MasterKeyMismatch('a database whose check value was removed');
  wrap.check(checkValue);
  return new PostgresKeyStore({
    pool,
    wrap,
    cache: new LRUCache({ max: cacheKeysMax, ttl: cacheLifetimeMs }),
  });
};

type Held = PersonKey | 'destroyed';
type Dependencies = {
  readonly pool: pg.Pool;
  readonly wrap: KeyWrap;
  readonly cache: LRUCache<UserId, Held>;
};

class PostgresKeyStore implements KeyStore {
  readonly #pool: pg.Pool;
  readonly #wrap: KeyWrap;
  readonly #cache: LRUCache<UserId, Held>;

  constructor({ pool, wrap, cache }: Dependencies) {
    this.#pool = pool;
    this.#wrap = wrap;
    this.#cache = cache;
  }

  async obtain(subject: UserId): Promise<PersonKey> {
    const held = this.#cache.get(subject) ?? (await this.#obtain(subject));
    if (held === 'destroyed') throw new KeyDestroyed(subject);
    return held;
  }

  async find(subjects: Iterable<UserId>): Promise<ReadonlyMap<UserId, Held>> {
    const found = new Map<UserId, Held>();
    const missing: UserId[] = [];
    for (const subject of new Set(subjects)) {
      const held = this.#cache.get(subject);
      if (held === undefined) missing.push(subject);
      else found.set(subject, held);
    }
    for (let start = 0; start < missing.length; start += SUBJECTS_PER_QUERY_MAX) {
      const rows = await selectKeys(this.#pool, missing.slice(start, start + SUBJECTS_PER_QUERY_MAX));
      for (const { subject, wrapped } of rows) found.set(subject, this.#hold(subject, wrapped));
    }
    return found;
  }

  async destroy(subject: UserId): Promise<void> {
    await destroyKey(this.#pool, subject);
    this.#cache.set(subject, 'destroyed');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cache.clear();
  }

  async #obtain(subject: UserId): Promise<Held> {
    const fresh = this.#wrap.wrap(subject, createSecretKey(randomBytes(KEY_BYTES)));
    const row = (await obtainKey(this.#pool, subject, fresh)) ?? (await selectKeys(this.#pool, [subject]))[0];
    if (row === undefined)
      throw new Error(`The key of person ${subject} is gone, though rows are never removed`);
    return this.#hold(subject, row.wrapped);
  }

  /** A destruction stands, even against a row that was read before it and arrives after it. */
  #hold(subject: UserId, wrapped: Buffer | null): Held {
    const held =
      wrapped === null || this.#cache.peek(subject) === 'destroyed'
        ? 'destroyed'
        : this.#wrap.unwrap(subject, wrapped);
    this.#cache.set(subject, held);
    return held;
  }
}
