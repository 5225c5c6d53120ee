import { observePool } from '#shared/database/observe-pool.ts';
import { openPool } from '#shared/database/pool.ts';
import type { QueryResources } from '../resources.ts';
import { UNCOMPILED } from '../rows/searches.ts';
import { demandReadable, type Found } from './groups.ts';
import { type Asking, readGroups, STATEMENT_TIMEOUT_MS } from './statement.ts';

/** Reads groups for any interface. */
export type Aggregates = AsyncDisposable & {
  /** The groups now. The caller of this function checks the filters. */
  read(asking: Asking): Promise<Found>;
};

/** One may read every row of a table, so they have few connections of their own, and delay no other read. */
const CONNECTIONS_MAX = 2;

export const openAggregates = async ({
  databaseUrl,
  metrics,
  clock,
}: QueryResources): Promise<Aggregates> => {
  const pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-aggregates',
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    settings: UNCOMPILED,
    clock,
  });
  observePool(metrics, 'annals-aggregates', pool);
  return {
    async read(asking) {
      demandReadable(asking.caller, asking.source, asking.groups);
      return readGroups(pool, asking);
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
};
