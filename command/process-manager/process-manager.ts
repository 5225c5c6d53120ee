import type { Position } from '#shared/brands.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { demandCheckpoint } from '#shared/event-log/demand-checkpoint.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import type { Log } from '#shared/log.ts';
import { type Followed, type FollowUpDependencies, followUp, isFollowed } from './follow-up.ts';
import { membershipIn, moveCheckpoint, readCheckpoint } from './membership.ts';

export type ProcessManagerDependencies = FollowUpDependencies & {
  readonly pool: Pool;
  readonly log: EventLog;
  readonly codec: Codec;
  readonly logger: Log;
};

const LEASE = 'process-manager';

/** An owner that was paused in the middle must not keep its successor waiting for the checkpoint's row. */
const PAUSE_MAX_MS = 3_000;

/**
 * Follows the log and carries out what changes bring with them, in one process at a time.
 * What it knows and how far it is change in one transaction, after what follows from it was appended.
 */
export const startProcessManager = async (dependencies: ProcessManagerDependencies): Promise<AsyncDisposable> => {
  const { pool, log, logger } = dependencies;
  await migrateLeases(pool);
  await migrate(pool, 'process-manager', new URL('./migrations/', import.meta.url));
  await demandCheckpoint('process manager', log, await readCheckpoint(pool));
  const stopping = new AbortController();
  const onFailure = (error: unknown) => logger.error({ err: error }, 'the process manager failed and begins anew');
  const running = runUnderLease({ pool, name: LEASE, onFailure }, (lease) => manage(dependencies, lease), stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

const manage = async (
  dependencies: ProcessManagerDependencies,
  { epoch, signal }: { epoch: number; signal: AbortSignal },
): Promise<void> => {
  const { pool, log, codec } = dependencies;
  let position = (await readCheckpoint(pool))?.position ?? START;
  for await (const page of log.follow(position, signal)) {
    const last = page.at(-1);
    if (signal.aborted || !last) return;
    const events = (await codec.decodeAll(page.filter(({ type }) => isFollowed(type)))) as readonly DecodedEvent<Followed>[];
    await handle(dependencies, events, { from: position, to: last.position, epoch });
    position = last.position;
  }
};

const handle = async (
  dependencies: ProcessManagerDependencies,
  events: readonly DecodedEvent<Followed>[],
  move: { from: Position; to: Position; epoch: number },
): Promise<void> => {
  const client = await dependencies.pool.connect();
  try {
    await client.query('begin');
    await client.query(`set local idle_in_transaction_session_timeout = ${PAUSE_MAX_MS}`);
    // First, so that an owner who was overtaken finds out before it does anything, and a newer one waits for its end.
    await moveCheckpoint(client, dependencies.log.identity, move);
    const membership = membershipIn(client);
    for (const event of events) await followUp(dependencies, membership, event);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
};
