import cluster from 'node:cluster';
import type { Registry } from 'prom-client';
import type { Health } from '#edge/http/health.ts';
import { NotReady } from '#shared/not-ready.ts';
import { type Channel, openChannel } from './channel.ts';
import { FOLLOWERS, type OfPrimary, type OfWorker, WORKER_IS_FIRST, WORKER_NAME } from './protocol.ts';
import { takeSnapshot } from './sum-metrics.ts';

/** A worker’s link to its primary process. */
export type WorkerLink = {
  readonly name: string;
  /** Whether it follows the event log; otherwise it serves clients. */
  readonly isFollowers: boolean;
  /** Whether it is the worker that creates the first credentials of development. */
  readonly isFirst: boolean;
  /** Whether another worker has replaced it. */
  readonly isReplaced: boolean;
  readonly primary: Channel<OfPrimary>;
  /** Answers the primary process’s requests for metrics and health, until this one stops. */
  report(parts: { readonly metrics: Registry; readonly health: Health }): AsyncDisposable;
};

/**
 * Undefined in a process that is no worker. `SIGTERM` stops a worker like any process; its end closes the
 * channel, and the other way round.
 */
export const openWorkerLink = (environment: NodeJS.ProcessEnv = process.env): WorkerLink | undefined => {
  const name = environment[WORKER_NAME];
  const { worker } = cluster;
  if (worker === undefined || name === undefined) return undefined;
  let isReplaced = false;
  let parts: Parameters<WorkerLink['report']>[0] | undefined;
  const demandParts = () => {
    if (parts === undefined) throw new Error('the worker is starting');
    return parts;
  };
  const primary = openChannel<OfWorker, OfPrimary>(worker, {
    metrics: () => takeSnapshot(demandParts().metrics),
    readiness: () => demandParts().health.readiness(),
    stop({ isReplaced: replaced }) {
      isReplaced = replaced;
      process.kill(process.pid, 'SIGTERM');
      return undefined;
    },
  });
  return {
    name,
    isFollowers: name === FOLLOWERS,
    isFirst: environment[WORKER_IS_FIRST] === 'yes',
    get isReplaced() {
      return isReplaced;
    },
    primary,
    report(given) {
      parts = given;
      if (name !== FOLLOWERS) given.health.add('followers of the log', () => demandFollowers(primary));
      return {
        async [Symbol.asyncDispose]() {
          // The primary process may have ended before.
          await primary.ask('farewell', await takeSnapshot(given.metrics)).catch(() => {});
        },
      };
    },
  };
};

/** Another worker runs the followers, and the readiness of this one includes them. */
const demandFollowers = async (primary: Channel<OfPrimary>): Promise<void> => {
  const { status, reasons = {} } = await primary.ask('readiness', undefined);
  if (status === 'not ready')
    throw new NotReady(['The worker of the followers is not ready.', ...Object.values(reasons)].join(' '));
};
