import { setTimeout as delay } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { runUnderLease } from '#shared/database/lease/lease.ts';
import { orUnknown } from '#shared/follower/observe-follower.ts';
import { countConsequences } from '#shared/operations/consequences.ts';
import { carryOutOrPark, type TaskDependencies } from './carry-out.ts';
import { dueOf, unpark } from './parked.ts';

const LOOK_EVERY_MS = 500;

/** Retries parked tasks when their time has come, in one process at a time, apart from what the log brings. */
export const startRetrying = (dependencies: TaskDependencies & { readonly metrics: Registry }): AsyncDisposable => {
  const { pool, log, metrics } = dependencies;
  observeParked(dependencies, metrics);
  const stopping = new AbortController();
  const running = runUnderLease(
    {
      pool,
      name: 'process-manager-parked',
      onFailure: (err) => log.warn({ err }, 'Parked tasks of the process manager could not be retried.'),
    },
    async ({ signal }) => {
      while (!signal.aborted) {
        for (const task of await dueOf(pool)) {
          if (signal.aborted) return;
          if ((await carryOutOrPark(dependencies, task)) === 'parked') continue;
          await unpark(pool, task);
          log.info({ task: task.task, stream: task.stream }, 'The process manager has carried out what was parked.');
        }
        await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
      }
    },
    stopping.signal,
  );
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

const observeParked = ({ pool }: Pick<TaskDependencies, 'pool'>, metrics: Registry): void => {
  new Gauge({
    name: 'annals_process_manager_parked',
    help: 'Consequences of deletions, erasures among them, that could not be carried out and are retried.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(async () => (await countConsequences(pool)).parked));
    },
  });
  new Gauge({
    name: 'annals_process_manager_parked_oldest_seconds',
    help: 'How long the oldest of them has been parked; 0 if there is none.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(async () => (await countConsequences(pool)).oldestSeconds ?? 0));
    },
  });
};
