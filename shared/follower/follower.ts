import { Gauge, type Registry } from 'prom-client';
import type { Position } from '#shared/brands.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import { moveCheckpoint, readCheckpoint } from './checkpoint.ts';
import { demandCheckpoint } from './demand-checkpoint.ts';

export type FollowerOptions = {
  /** Its name in leases, checkpoints, logs and metrics: `process-manager`. */
  readonly name: string;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly log: Log;
  readonly metrics: Registry;
  /**
   * Takes in some events, in log order. What it writes on the connection changes together with the checkpoint.
   * What it does elsewhere may be done again after a crash.
   */
  handle(events: readonly RecordedEvent[], connection: Connection): Promise<void>;
};

/** An owner that was paused in the middle must not keep its successor waiting for the checkpoint's row. */
const PAUSE_MAX_MS = 3_000;

/** Follows the event log from where it was left, in one process at a time. A failure is logged, and the following begun anew. */
export const startFollower = async (options: FollowerOptions): Promise<AsyncDisposable> => {
  const { name, pool, eventLog, log, metrics } = options;
  await migrateLeases(pool);
  await migrate(pool, 'follower', new URL('./', import.meta.url));
  await demandCheckpoint(name, eventLog, await readCheckpoint(pool, name));
  const gauges = gaugesIn(metrics);
  const stopping = new AbortController();
  const onFailure = (err: unknown) => log.error({ err, follower: name }, 'A follower of the event log failed and begins anew.');
  const running = runUnderLease({ pool, name, onFailure }, (lease) => follow(options, gauges, lease), stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

const follow = async (
  options: FollowerOptions,
  gauges: Gauges,
  { epoch, signal }: { epoch: number; signal: AbortSignal },
): Promise<void> => {
  const { name, pool, eventLog, handle } = options;
  let position: Position = (await readCheckpoint(pool, name))?.position ?? START;
  for await (const events of eventLog.follow(position, signal)) {
    const last = events.at(-1);
    if (signal.aborted || !last) return;
    const move = { log: eventLog.identity, from: position, to: last.position, epoch };
    await inTransaction(pool, async (connection) => {
      await connection.query(`set local idle_in_transaction_session_timeout = ${PAUSE_MAX_MS}`);
      // First, so that an owner who was overtaken finds out before it does anything, and a newer one waits for its end.
      await moveCheckpoint(connection, name, move);
      await handle(events, connection);
    });
    position = last.position;
    gauges.position.set({ follower: name }, position);
    gauges.lag.set({ follower: name }, (Date.now() - last.recordedAt.getTime()) / 1_000);
  }
};

type Gauges = { readonly position: Gauge<'follower'>; readonly lag: Gauge<'follower'> };

/** All followers of a process share these. */
const gaugesIn = (metrics: Registry): Gauges => ({
  position: gaugeIn(metrics, 'annals_follower_position', 'How far the follower is in the event log; known to its owner alone.'),
  lag: gaugeIn(metrics, 'annals_follower_lag_seconds', 'How old the last event was when the follower had taken it in.'),
});

const gaugeIn = (metrics: Registry, name: string, help: string): Gauge<'follower'> =>
  (metrics.getSingleMetric(name) as Gauge<'follower'> | undefined) ??
  new Gauge({ name, help, labelNames: ['follower'], registers: [metrics] });
