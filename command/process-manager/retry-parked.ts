import { countConsequences } from '#process/operations/consequences.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { runUnderLease } from '#shared/database/lease/lease.ts';
import { pulseOf } from '#shared/database/pulse.ts';
import { orUnknown } from '#shared/follower/observe-follower.ts';
import { Gauge, type Registry } from '#shared/prometheus.ts';
import { forgetUnseen, recordActivity } from './declaration.ts';
import type { TaskDependencies } from './execute-task.ts';
import { type Fence, isFenced, LEASE, Overtaken } from './fence.ts';
import { DUE_NOW, DUE_SINCE_SET_BACK, dueOf, unpark } from './parked.ts';
import { isScheduleDue } from './tasks.ts';

/** How often it records its activity, and looks for other declarations. */
const ACTIVE_EVERY_MS = 5_000;
/** How often it looks for due tasks although the pulse has shown none. */
const LOOK_EVERY_MS = 60_000;

type Dependencies = TaskDependencies & {
  /** Undefined for a domain without timers and with no reactions but ends. */
  readonly reacting: Reacting | undefined;
  readonly metrics: Registry;
};

export type Reacting = {
  readonly fingerprint: string;
  readonly hasSchedules: boolean;
  /** Executes what is due of one leader. Returns whether there was anything to do. */
  followUp(fence: Fence): () => Promise<boolean>;
};

/** Executes tasks and retries them when due, in one process at a time, independently of the log. */
export const startRetrying = (dependencies: Dependencies): AsyncDisposable & { wake(): void } => {
  const { pool, log, metrics, clock, reacting } = dependencies;
  observeParked(dependencies, metrics);
  const stopping = new AbortController();
  let waking = new AbortController();
  const running = runUnderLease(
    {
      pool,
      name: LEASE,
      clock,
      onFailure(err) {
        if (!(err instanceof Overtaken))
          log.warn({ err }, 'Parked tasks of the process manager could not be retried.');
      },
    },
    async ({ epoch, signal }) => {
      const fence = reacting && { fingerprint: reacting.fingerprint, epoch };
      const follows = fence && reacting.followUp(fence);
      let lookAtMs = Number.NEGATIVE_INFINITY;
      let isWoken = false;
      while (!signal.aborted) {
        const looks: boolean = isWoken || waking.signal.aborted || clock.elapsedMs() >= lookAtMs;
        if (looks) lookAtMs = clock.elapsedMs() + LOOK_EVERY_MS;
        waking = new AbortController();
        if (looks) await retryParked(dependencies, signal);
        await (reacting ? recordActivity(pool, reacting) : forgetUnseen(pool, epoch));
        isWoken = looks && (await follows?.()) === true;
        if (isWoken) continue;
        isWoken = await pulseOf(pool).wait({
          ...hasWork(clock, fence, reacting?.hasSchedules),
          ...{ clock, timeoutMs: ACTIVE_EVERY_MS, signal: AbortSignal.any([signal, waking.signal]) },
        });
      }
    },
    stopping.signal,
  );
  return {
    /** Wakes the loop, because there may be tasks. */
    wake: () => waking.abort(),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

/** SQL that is true if a task, a timer or a schedule is due, or if another process or declaration has taken over. */
const hasWork = (clock: Clock, fence: Fence | undefined, hasSchedules = false) => {
  const waits = (table: string, isDue: string) =>
    `exists (select from process_manager.${table} where ${isDue})`;
  const due = [DUE_NOW, DUE_SINCE_SET_BACK].map((isDue) => `skipped_at is null and ${isDue}`);
  const now = `statement_timestamp() + $1::float8 * interval '1 millisecond'`;
  const conditions = [
    ...due.map((isDue) => waits('parked', isDue)),
    ...(fence === undefined
      ? []
      : [
          ...due.map((isDue) => waits('task', isDue)),
          waits('task', 'skipped_at is null and next_at is null'),
          waits('timer_mark', 'true'),
          waits('timer', `due_at <= ${now}`),
          ...(hasSchedules ? [waits('schedule', isScheduleDue(now))] : []),
          `not ${isFenced('$2', '$3')}`,
        ]),
  ];
  const values = fence === undefined ? [] : [clock.aheadMs(), fence.fingerprint, fence.epoch];
  return { until: conditions.join(' or '), values };
};

const retryParked = async (dependencies: Dependencies, signal: AbortSignal): Promise<void> => {
  const { pool, log } = dependencies;
  const due = await dueOf(pool);
  if (due.length === 0) return;
  const { executeOrPark } = await import('./execute-task.ts');
  for (const task of due) {
    if (signal.aborted) return;
    if ((await executeOrPark(dependencies, task)) === 'parked') continue;
    await unpark(pool, task);
    log.info({ task: task.task, stream: task.stream }, 'The process manager has executed a parked task.');
  }
};

const observeParked = ({ pool }: Pick<TaskDependencies, 'pool'>, metrics: Registry): void => {
  new Gauge({
    name: 'annals_process_manager_parked',
    help: 'Parked tasks of the process manager, including erasures, that failed and are retried.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(async () => (await countConsequences(pool)).parked));
    },
  });
  new Gauge({
    name: 'annals_process_manager_parked_oldest_seconds',
    help: 'The age of the oldest parked task; 0 if there is none.',
    registers: [metrics],
    async collect() {
      this.set(await orUnknown(async () => (await countConsequences(pool)).oldestSeconds ?? 0));
    },
  });
};
