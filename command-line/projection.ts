import { StartRefused } from '#kernel/base/start-refused.ts';
import { isPassing } from '#shared/database/failures.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import type { Mending } from '#shared/projection/retry.ts';
import { type ProjectionStatus, readStatus } from '#shared/projection/status.ts';
import type { Listed, Parked } from '#shared/read-model/parked.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createSnapshots, type Snapshots } from '#shared/snapshots/snapshots.ts';
import { migrateProjector } from '../projector/migrate.ts';
import type { Command } from './arguments/command.ts';
import { type Installation, openInstallation } from './installation/installation.ts';
import { harmless } from './output/print-event.ts';
import { megabytes, number } from './output/progress.ts';
import type { Terminal } from './terminal.ts';

export type Projection = Mending &
  Pick<Installation, 'isDense' | 'config'> &
  Pick<Terminal, 'domain'> & { readonly snapshots: Snapshots; readonly masterKey: MasterKey };

/** The options of the connections: a transaction holds one while another looks up keys. */
type Speaking = { readonly connectionsMax?: number; readonly statementTimeoutMs?: number };

const CONNECTIONS_MAX = 3;

/** Works on the read model of the installation, whose projector may run meanwhile. */
export const withProjection = async (
  terminal: Terminal,
  work: (projection: Projection) => Promise<void>,
  { connectionsMax = CONNECTIONS_MAX, ...speaking }: Speaking = {},
): Promise<void> => {
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog, isDense } = installation;
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax,
    ...speaking,
  });
  await demandReadModel(pool);
  await migrateProjector(pool);
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  await work({
    pool,
    eventLog,
    codec: createCodec({ keys, domain: terminal.domain }),
    domain: terminal.domain,
    tables: tablesOf(terminal.domain),
    snapshots: createSnapshots({ pool, keys, masterKey, eventLog }),
    masterKey,
    isDense,
    config,
  }).catch(explainPassing);
};

/**
 * A transient error is not our fault, and nothing is half done: each change of the read model is one
 * transaction.
 */
const explainPassing = (error: unknown): never => {
  if (!isPassing(error)) throw error;
  const message = `The database aborted it: ${(error as Error).message}. Check “projection status”, and start again.`;
  throw new StartRefused(message, { cause: error });
};

const demandReadModel = async (pool: Pool): Promise<void> => {
  const { rows } = await pool.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    `${LIVE_SCHEMA}.parked`,
  ]);
  if (!rows[0]?.found)
    throw new StartRefused('There is no read model yet: start Annals, or the projector, to build one.');
};

/** The event that parks an aggregate, and the reason, as one line for people. */
export const parkedLine = ({ stream, version, position, type, reason }: Parked): string =>
  harmless(`${stream}@${version}  ${type}  at position ${position}: ${reason}`);

export const listedLine = (listed: Listed): string => `${listed.since.toISOString()}  ${parkedLine(listed)}`;

export const projectionStatus: Command = {
  name: 'projection status',
  summary: 'Prints the lag of the read model, the number of parked aggregates, and its other versions.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints everything as one line of JSON.' } },
  examples: ['projection status'],
  run: ({ flags }, terminal) =>
    withProjection(terminal, async ({ isDense, ...mending }) => {
      const status = await readStatus(mending);
      if (flags.has('json')) return terminal.write(JSON.stringify(status));
      for (const line of statusLines(status, isDense)) await terminal.write(line);
    }),
};

const statusLines = (
  { head, live, previous, next, isUnderWay }: ProjectionStatus,
  isDense: boolean,
): readonly string[] => {
  const behind = Math.max(head - live.position, 0);
  const unit = isDense ? 'events' : 'bytes of the log';
  return [
    `In use: at position ${live.position}, ${behind === 0 ? 'up to date' : `${number(behind)} ${unit} behind`}, ${megabytes(live.bytes)}.`,
    ...(live.isOfThisRelease
      ? []
      : ['        Its tables belong to another release: run “projection rebuild”.']),
    `Parked: ${live.parked === 0 ? 'nothing' : `${number(live.parked)}, listed by “projection parked”`}.`,
    previous
      ? `Previous: at position ${previous.position}, ${megabytes(previous.bytes)}; ${previous.isOfThisRelease ? '“projection rollback” swaps it back in' : 'its tables belong to another release, so that it cannot be swapped back in'}.`
      : 'Previous: none; a rebuild leaves one.',
    ...(next
      ? [
          `Unfinished: at position ${next.position}, ${megabytes(next.bytes)}; ${isUnderWay ? 'it is being built' : 'the next rebuild drops it'}.`,
        ]
      : []),
  ];
};
