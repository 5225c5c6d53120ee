import { LRUCache } from 'lru-cache';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';

/** The documents that an operator has loaded, by id. */
export type PersistedDocuments = {
  find(id: string): Promise<string | undefined>;
};

/** One document under its id: the SHA-256 of its text, or the id that a client's compiler chose. */
export type PersistedDocument = { readonly id: string; readonly text: string };

const CACHE_BYTES = 32 * 1024 * 1024;
const ID_CHARACTERS_MAX = 200;
/** Loading or removing a document takes effect within this time. */
const REMEMBERED_MS = 10_000;
const UNKNOWN = Symbol('unknown');

export const migratePersistedDocuments = (pool: Pool): Promise<void> =>
  migrate(pool, 'graphql documents', new URL('./migrations/', import.meta.url));

export const openPersistedDocuments = async (pool: Pool): Promise<PersistedDocuments> => {
  await migratePersistedDocuments(pool);
  const remembered = new LRUCache<string, string | typeof UNKNOWN>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (found, id) => id.length + (found === UNKNOWN ? 1 : 2 * found.length),
    ttl: REMEMBERED_MS,
  });
  return {
    async find(id) {
      if (id.length > ID_CHARACTERS_MAX) return undefined;
      const known = remembered.get(id);
      if (known !== undefined) return known === UNKNOWN ? undefined : known;
      const text = await select(pool, id);
      remembered.set(id, text ?? UNKNOWN);
      return text;
    },
  };
};

/** The id of a hash may have its algorithm as a prefix. */
const select = async (pool: Pool, id: string): Promise<string | undefined> => {
  const { rows } = await pool.query<{ text: string }>({
    name: 'persisted-document',
    text: 'select text from public.persisted_document where id = $1',
    values: [id.replace(/^sha256:/, '')],
  });
  return rows[0]?.text;
};

/** Saves all or none. An id that exists is overwritten, because the operator decides. */
export const savePersistedDocuments = async (
  pool: Pool,
  documents: readonly PersistedDocument[],
): Promise<void> => {
  await pool.query(
    `insert into public.persisted_document (id, text)
     select id, text from json_to_recordset($1) as d (id text, text text)
     on conflict (id) do update set text = excluded.text, loaded_at = now()`,
    [JSON.stringify(documents)],
  );
};

export const listPersistedDocuments = async (
  pool: Pool,
): Promise<readonly (PersistedDocument & { readonly loadedAt: Date })[]> => {
  const { rows } = await pool.query<PersistedDocument & { loadedAt: Date }>(
    'select id, text, loaded_at as "loadedAt" from public.persisted_document order by id',
  );
  return rows;
};

export const removePersistedDocuments = async (pool: Pool, ids: readonly string[]): Promise<number> => {
  const { rowCount } = await pool.query('delete from public.persisted_document where id = any($1)', [ids]);
  return rowCount ?? 0;
};
