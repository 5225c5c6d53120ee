import type { Domain } from '#kernel/registry/registry.ts';
import { startExecuting } from '#process/operations/execute-operator-commands.ts';
import { recordFingerprint } from '#process/operations/installation-state.ts';
import { migrateOperations } from '#process/operations/migrate.ts';
import {
  finishOperatorCommand,
  type Outcome,
  type TakenOperatorCommand,
} from '#process/operations/operator-commands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Log } from '#shared/log.ts';
import { readDefinition } from '#shared/projection/definition.ts';
import { type Mending, type RecordMended, retry } from '#shared/projection/retry.ts';
import { skipParked } from '#shared/projection/skip-parked.ts';
import type { Parked } from '#shared/read-model/parked.ts';
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
    execute: async (command) => retryOrSkip(mending, command),
  });
};

/**
 * The result is recorded in the same transaction: if the process dies, the command either has run and is
 * recorded, or starts again.
 */
const retryOrSkip = async (mending: Mending, command: TakenOperatorCommand): Promise<void> => {
  const { kind, stream, version } = command;
  if (stream === null) throw new Error(`the operator command ${command.id} names no stream`);
  const record: RecordMended = (connection, parked) =>
    finishOperatorCommand(connection, command, outcomeOf(command, parked));
  if (kind === 'retry') await retry(mending, stream, record);
  else if (version !== null) await skipParked(mending, { stream, version }, record);
  else throw new Error(`the operator command ${command.id} names no version`);
};

const outcomeOf = ({ kind, stream, version }: TakenOperatorCommand, parked: Parked | undefined): Outcome => {
  const left = kind === 'release' ? `Version ${version} of ${stream} was skipped permanently. ` : '';
  if (!parked) return { state: 'done', outcome: `${left}${stream} is in the read model again.` };
  const { version: at, type, reason } = parked;
  // A skipped event stays skipped.
  return { state: 'failed', outcome: `${left}${stream} stays parked, by version ${at}, ${type}: ${reason}` };
};
