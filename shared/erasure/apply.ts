import type { UserId } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Log } from '#shared/log.ts';
import { dropAbandoned } from '#shared/read-model/scratch-schemas.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import type { ErasureList } from './erasure-list.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly domain: Domain;
  readonly keys: Pick<KeyStore, 'find' | 'destroy'>;
  readonly erasures: Pick<ErasureList, 'read'>;
  readonly log: Pick<Log, 'warn'>;
};

/**
 * Erases again every person on the list who has a key here: the key came back with a backup. After this none
 * of their data can be read; the other consequences of their deletion follow once the command role has
 * recorded it again. Returns those persons.
 */
export const applyErasures = async ({
  domain,
  pool,
  keys,
  erasures,
  log,
}: Dependencies): Promise<readonly UserId[]> => {
  await dropAbandoned(pool);
  const listed = (await erasures.read()).map(({ userId }) => userId);
  if (listed.length === 0) return [];
  const found = await keys.find(listed);
  const restored = listed.filter((userId) => found.get(userId) !== 'destroyed');
  for (const userId of restored) await keys.destroy(userId);
  if (restored.length === 0) return [];
  const { eraseInReadModels } = await import('./erase-copies.ts');
  await eraseInReadModels({ pool, tables: tablesOf(domain) }, restored);
  log.warn(
    { users: restored.length },
    'Keys of erased people had reappeared, for example from a backup, and are destroyed again.',
  );
  return restored;
};
