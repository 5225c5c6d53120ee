import type { Domain } from '#kernel/registry/registry.ts';
import type { EventId, UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { eraseInReadModels } from '#shared/erasure/copies.ts';
import type { ErasureList } from '#shared/erasure/erasure-list.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

export type EraseDependencies = {
  readonly pool: Pool;
  readonly domain: Domain;
  readonly keys: Pick<KeyStore, 'destroy'>;
  readonly erasures: Pick<ErasureList, 'note'>;
};

/** Erases somebody, because of the event that deleted them: on the list first, so that no key is gone of which a backup could bring back. */
export const erase = async ({ domain, pool, keys, erasures }: EraseDependencies, userId: UserId, event: EventId): Promise<void> => {
  await erasures.note([{ userId, at: new Date().toISOString(), event }]);
  await keys.destroy(userId);
  await eraseInReadModels({ pool, tables: tablesOf(domain) }, [userId]);
};
