import { Gauge, type Registry } from 'prom-client';
import type { Following } from '#kernel/decide/reactions.ts';
import { countConsequences } from '#process/operations/consequences.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { runUnderLease } from '#shared/database/lease/lease.ts';
import { literal } from '#shared/database/literal.ts';
import { pulseOf } from '#shared/database/pulse.ts';
import { orUnknown } from '#shared/follower/observe-follower.ts';
import { allDone, carryOutOrPark, doOrPark, type TaskDependencies } from './carry-out.ts';
import { forgetUnseen, isDeclared, recordActivity, takeBack } from './declaration.ts';
import { demandFence, type Fence, isFenced, LEASE, Overtaken, type Waiting } from './fence.ts';
import { DUE_NOW, DUE_SINCE_SET_BACK, dueOf, unpark } from './parked.ts';
import { dropTask, inTurn, parkTask, type ReactionTask } from './tasks.ts';
import { isLook, type Look } from './timers.ts';

/** How often it looks although the pulse has shown nothing. */
const LOOK_EVERY_MS = 5_000;

type Dependencies = TaskDependencies & {
  /** Undefined for a domain without timers and with no reactions but ends. */
  readonly following: Following | undefined;
  readonly metrics: Registry;
  readonly react: (task: ReactionTask) => Promise<void>;
  readonly look: Look;
  readonly waiting: Waiting;
};

/** Executes tasks and retries them when due, in one process at a time, independently of the log. */
export const startRetrying = (dependencies: Dependencies): AsyncDisposable & { wake(): void } => {
  const { pool, log, metrics, clock, following } = dependencies;
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
      const follows = following && followUp(dependencies, { fingerprint: following.fingerprint, epoch });
      while (!signal.aborted) {
        waking = new AbortController();
        await retryParked(dependencies, signal);
        await recordActivity(pool, following);
        if (follows === undefined) await forgetUnseen(pool, epoch);
        else if (await follows()) continue;
        await pulseOf(pool).wait({
          until: hasWork(clock, following && { fingerprint: following.fingerprint, epoch }),
          ...{ clock, timeoutMs: LOOK_EVERY_MS, signal: AbortSignal.any([signal, waking.signal]) },
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

/** SQL that is true if a task or a timer is due, or if another process or declaration has taken over. */
const hasWork = (clock: Clock, fence: Fence | undefined): string => {
  const waits = (table: string, isDue: string) =>
    `exists (select from process_manager.${table} where ${isDue})`;
  const due = [DUE_NOW, DUE_SINCE_SET_BACK].map((isDue) => `skipped_at is null and ${isDue}`);
  const now = `statement_timestamp() + ${clock.aheadMs()} * interval '1 millisecond'`;
  return [
    ...due.map((isDue) => waits('parked', isDue)),
    ...(fence === undefined
      ? []
      : [
          ...due.map((isDue) => waits('task', isDue)),
          waits('task', 'skipped_at is null and next_at is null'),
          waits('timer_mark', 'true'),
          waits('timer', `due_at <= ${now}`),
          `not ${isFenced(literal(fence.fingerprint), String(fence.epoch))}`,
        ]),
  ].join(' or ');
};

const retryParked = async (dependencies: Dependencies, signal: AbortSignal): Promise<void> => {
  const { pool, log } = dependencies;
  for (const task of await dueOf(pool)) {
    if (signal.aborted) return;
    if ((await carryOutOrPark(dependencies, task)) === 'parked') continue;
    await unpark(pool, task);
    log.info({ task: task.task, stream: task.stream }, 'The process manager has executed a parked task.');
  }
};

/**
 * Returns whether there was anything to do. A leader that was replaced releases the lease, so that its
 * successor can take it.
 */
const followUp = (dependencies: Dependencies, fence: Fence): (() => Promise<boolean>) => {
  const { pool, eventLog, look, waiting } = dependencies;
  const next = inTurn(pool, fence);
  return async () => {
    await demandFence(pool, fence).catch(async (error: unknown) => {
      if (error instanceof Overtaken) {
        await takeBack(pool, eventLog, fence);
        if (!(await isDeclared(pool, fence))) waiting.begins();
      }
      throw error;
    });
    waiting.ends();
    const hasLooked = await look.atAll(fence);
    const { tasks, isLast } = await next();
    await carryOutAll(dependencies, tasks, fence);
    return hasLooked || !isLast;
  };
};

/** Executes tasks of different aggregates in parallel. */
const carryOutAll = async (
  dependencies: Dependencies,
  tasks: readonly ReactionTask[],
  fence: Fence,
): Promise<void> => {
  const { pool, react, look } = dependencies;
  await allDone(
    tasks.map((task) =>
      doOrPark(dependencies, task, {
        async work() {
          await (isLook(task) ? look.at(task.stream, fence) : react(task));
          await dropTask(pool, task, fence);
        },
        park: (error) => parkTask(pool, task, fence, error),
      }),
    ),
  );
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
