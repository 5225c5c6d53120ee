import type { Domain } from '#kernel/registry/registry.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { isOfThisRelease } from '#shared/projection/definition.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

type Rebuilding = {
  readonly domain: Domain;
  readonly databaseUrl: string;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly signal: AbortSignal;
};

/** As the command `projection rebuild`: a version is written over several connections. */
const SPEAKING = { connectionsMax: 6, statementTimeoutMs: 4 * 3_600_000 };

/** Rebuilds the read model if its tables are those of another declaration, and says so. */
export const rebuildIfOther = async ({
  domain,
  databaseUrl,
  eventLog,
  keys,
  signal,
  ...given
}: Rebuilding): Promise<string | undefined> => {
  const tables = tablesOf(domain);
  if (await isOfThisRelease(given.pool, tables, LIVE_SCHEMA)) return undefined;
  const startedAtMs = performance.now();
  await using pool = openPool({ url: databaseUrl, applicationName: 'annals-dev', ...SPEAKING });
  const { events } = await rebuild({
    ...{ pool, eventLog, tables, signal },
    codec: createCodec({ keys, domain }),
    onProgress: () => {},
  });
  const tookS = ((performance.now() - startedAtMs) / 1_000).toFixed(1);
  return `The read model was rebuilt, because its tables have changed: ${events} events in ${tookS} s.`;
};
