import type { Domain } from '#kernel/registry/registry.ts';
import { startExecuting } from '#process/operations/execute-operator-commands.ts';
import { recordFingerprint } from '#process/operations/installation-state.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Log } from '#shared/log.ts';
import { readDefinition } from '#shared/projection/definition.ts';
import type { Mending } from '#shared/projection/retry.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly log: Log;
  readonly clock: Clock;
};

/** Executes operator commands from the console, like those of the command line. */
export const startProjectionCommands = async ({
  domain,
  pool,
  eventLog,
  keys,
  log,
  clock,
}: Dependencies): Promise<AsyncDisposable> => {
  await migrateOperations(pool);
  const tables = tablesOf(domain);
  await recordFingerprint(pool, (await readDefinition(tables)).fingerprint);
  const mending: Mending = { pool, eventLog, codec: createCodec({ keys, domain }), tables };
  return startExecuting({
    name: 'operations-projection',
    pool,
    log,
    clock,
    kinds: ['retry', 'release'],
    execute: async (command) => (await import('./retry-or-skip.ts')).retryOrSkip(mending, command),
  });
};
