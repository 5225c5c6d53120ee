// Over 200 lines, because both key stores pass this one suite, and the one in PostgreSQL a part of its own.
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, vi } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { KeyDestroyed, type KeyStore, MasterKeyMismatch } from '#shared/keys/key-store.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { test as base } from '../engines/pool.ts';

const CACHE_LIFETIME_MS = 200;
const PROCESSES = 3;

let subjects = 0;
const newSubject = (): UserId => {
  subjects += 1;
  return subjects as UserId;
};
const bytesOf = (key: Awaited<ReturnType<KeyStore['obtain']>>) => key.export().toString('hex');

type Process = { readonly store: KeyStore; readonly pool: Pool };
const masterKey = createSecretKey(randomBytes(32));
const test = base.extend('openProcess', { scope: 'file' }, ({ database }, { onCleanup }) => {
  const resources = new AsyncDisposableStack();
  onCleanup(() => resources.disposeAsync());
  return async (key = masterKey): Promise<Process> => {
    const pool = resources.use(
      openPool({ url: database.url, applicationName: 'key-store-contract', connectionsMax: 4 }),
    );
    const store = resources.use(
      await openPostgresKeyStore({ pool, masterKey: key, cacheLifetimeMs: CACHE_LIFETIME_MS }),
    );
    return { store, pool };
  };
});

type OpenProcess = () => Promise<Process>;
const testOf = (open: (openProcess: OpenProcess) => Promise<readonly KeyStore[]>) =>
  test
    .extend('stores', { scope: 'file' }, ({ openProcess }) => open(openProcess))
    .extend('one', { scope: 'file' }, ({ stores }) => stores[0] as KeyStore)
    .extend('other', { scope: 'file' }, ({ stores }) => stores[1] as KeyStore);
/** Each engine opens one store per process over the same keys, in parallel, as at a start. */
const ENGINES = {
  memory: testOf(async () => new Array<KeyStore>(PROCESSES).fill(memoryKeyStore())),
  postgres: testOf(async (openProcess) =>
    (await Promise.all(Array.from({ length: PROCESSES }, () => openProcess()))).map(({ store }) => store),
  ),
};

describe.each(Object.entries(ENGINES))('key store: %s', (_, test) => {
  test('makes a key of 256 bits on demand and always returns the same one, to every process', async ({
    one,
    other,
  }) => {
    const subject = newSubject();
    const key = await one.obtain(subject);
    expect(key.symmetricKeySize).toBe(32);
    expect(bytesOf(await one.obtain(subject))).toBe(bytesOf(key));
    expect(bytesOf(await other.obtain(subject))).toBe(bytesOf(key));
  });

  test('gives one key to parallel requests for a new person', async ({ stores }) => {
    const subject = newSubject();
    const keys = await Promise.all(
      Array.from({ length: 60 }, (_each, index) => stores[index % PROCESSES]?.obtain(subject)),
    );
    expect(new Set(keys.map((key) => key && bytesOf(key)))).toHaveProperty('size', 1);
  });

  test('gives every person another key', async ({ one }) => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => one.obtain(newSubject())));
    expect(new Set(keys.map(bytesOf))).toHaveProperty('size', 10);
  });

  test('finds existing keys, each once, and makes none', async ({ one, other }) => {
    const [known, unknown] = [newSubject(), newSubject()];
    const key = await one.obtain(known);
    const found = await other.find([known, unknown, known]);
    expect([...found.keys()]).toEqual([known]);
    expect(bytesOf(found.get(known) as typeof key)).toBe(bytesOf(key));
    expect((await one.find([unknown])).size).toBe(0);
    expect((await one.find([])).size).toBe(0);
  });

  test('finds thousands in one call', async ({ one, other }) => {
    const many = Array.from({ length: 2_500 }, newSubject);
    const last = many.at(-1) as UserId;
    await one.obtain(last);
    expect([...(await other.find(many)).keys()]).toEqual([last]);
  });

  test('accepts every possible id', async ({ one, other }) => {
    const subject = Number.MAX_SAFE_INTEGER as UserId;
    expect(bytesOf(await one.obtain(subject))).toBe(bytesOf(await other.obtain(subject)));
  });

  test('destroys at once in its own process, and never makes that key again', async ({ one }) => {
    const subject = newSubject();
    await one.obtain(subject);
    await one.destroy(subject);
    await expect(one.obtain(subject)).rejects.toThrow(KeyDestroyed);
    expect((await one.find([subject])).get(subject)).toBe('destroyed');
  });

  test('destroys within the lifetime of the cache in every other process', async ({ one, other, stores }) => {
    const subject = newSubject();
    await Promise.all(stores.map((store) => store.obtain(subject)));
    await one.destroy(subject);
    await vi.waitFor(async () => expect((await other.find([subject])).get(subject)).toBe('destroyed'), {
      timeout: scaled(10 * CACHE_LIFETIME_MS),
    });
    await expect(other.obtain(subject)).rejects.toThrow(KeyDestroyed);
  });

  test('can destroy repeatedly', async ({ one, stores }) => {
    const subject = newSubject();
    await one.obtain(subject);
    await Promise.all(stores.map((store) => store.destroy(subject)));
    await one.destroy(subject);
    await expect(one.obtain(subject)).rejects.toThrow(KeyDestroyed);
  });

  test('leaves a mark for a person without a key, as after the restore of an older backup', async ({
    one,
    other,
  }) => {
    const subject = newSubject();
    await one.destroy(subject);
    await expect(other.obtain(subject)).rejects.toThrow(KeyDestroyed);
  });
});

describe('the PostgreSQL key store', () => {
  test('keeps keys wrapped, and nothing of a destroyed one', async ({ openProcess }) => {
    const { store, pool } = await openProcess();
    const subject = newSubject();
    const key = await store.obtain(subject);
    const stored = async () => {
      const { rows } = await pool.query<{ wrapped: Buffer | null }>(
        'select wrapped from public.person_key where subject = $1',
        [subject],
      );
      return rows[0]?.wrapped;
    };
    expect((await stored())?.toString('hex')).not.toContain(bytesOf(key));
    await store.destroy(subject);
    expect(await stored()).toBeNull();
  });

  test('makes the key of a new person in one round trip, and reads again only if another process was first', async ({
    openProcess,
  }) => {
    const { store, pool } = await openProcess();
    const query = vi.spyOn(pool, 'query');
    await store.obtain(newSubject());
    expect(query).toHaveBeenCalledTimes(1);
    const taken = newSubject();
    const other = await pool.connect();
    await other.query('begin');
    await other.query(
      'insert into public.person_key (subject, wrapped) select $1, wrapped from public.person_key where wrapped is not null limit 1',
      [taken],
    );
    await other.query(
      `update public.person_key set wrapped = null, destroyed_at = now() where subject = $1`,
      [taken],
    );
    const refused = expect(store.obtain(taken)).rejects.toThrow(KeyDestroyed);
    const { pool: watching } = await openProcess();
    const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(
      async () => (await watching.query(blocked)).rowCount,
      (count) => count === 1,
    );
    await other.query('commit');
    other.release();
    await refused;
    expect(query).toHaveBeenCalledTimes(3);
  });

  test('refuses another MASTER_KEY at the start, in one sentence', async ({ openProcess }) => {
    await openProcess();
    const opening = openProcess(createSecretKey(randomBytes(32)));
    await expect(opening).rejects.toThrow(MasterKeyMismatch);
    await expect(opening).rejects.toThrow(
      'MASTER_KEY does not match the keys in this database: set the key that the data was written with',
    );
  });

  test('refuses a key that was swapped with that of another person', async ({ openProcess }) => {
    const { store, pool } = await openProcess();
    const [subject, victim] = [newSubject(), newSubject()];
    await store.obtain(subject);
    await store.obtain(victim);
    await pool.query(
      'update public.person_key set wrapped = (select wrapped from public.person_key where subject = $1) where subject = $2',
      [subject, victim],
    );
    const { store: fresh } = await openProcess();
    await expect(fresh.obtain(victim)).rejects.toThrow(
      `MASTER_KEY does not match the key of person ${victim}`,
    );
  });
});
