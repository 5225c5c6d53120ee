import { membershipOf, reactionsIn } from '#kernel/decide/memberships.ts';
import type { Following } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { Log } from '#shared/log.ts';
import { PROCESS_MANAGER } from '#shared/process-manager/followers.ts';
import { declareReactions } from './declaration.ts';
import type { TaskDependencies } from './execute-task.ts';
import { logWaiting } from './fence.ts';
import type { ReactDependencies } from './react.ts';
import { reportUnreadable } from './report-unreadable.ts';
import { startRetrying } from './retry-parked.ts';
import { runsOf, type Step, type StepsOf, stepsBy } from './steps.ts';

type ProcessManagerDependencies = TaskDependencies &
  ReactDependencies &
  Omit<FollowerOptions, 'name' | 'act' | 'write'> & { readonly cell?: number | undefined };

/** A short delay that nobody notices. */
const REST_MS = 20;

export const migrateProcessManager = (pool: Pool): Promise<void> =>
  migrate(pool, PROCESS_MANAGER, new URL('./migrations/', import.meta.url));

/** Executes the consequences of events, in one process at a time. */
export const startProcessManager = async (
  dependencies: ProcessManagerDependencies,
): Promise<AsyncDisposable> => {
  const { pool, eventLog, log, metrics, clock } = dependencies;
  const stepsOf = stepsBy(dependencies.memberships);
  await migrateProcessManager(pool);
  await using opening = new AsyncDisposableStack();
  const following = await startFollower({
    name: PROCESS_MANAGER,
    restMs: REST_MS,
    pool,
    eventLog,
    log,
    metrics,
    clock,
    async act(events, signal) {
      await (await import('./declare-memberships.ts')).declareOnce(dependencies, events);
      const runs = runsOf(events.flatMap((event) => readSteps(stepsOf, event, log)));
      if (runs.length === 0) return;
      const { executeSteps } = await import('./execute-steps.ts');
      for (const run of runs) {
        if (signal.aborted) return;
        await executeSteps(dependencies, run, signal);
      }
    },
  });
  opening.use(following);
  const declared = await followingIn(dependencies.domain);
  await declareReactions(pool, eventLog, declared);
  const reacting =
    declared &&
    (await import('./reacting.ts')).createReacting({ ...dependencies, waiting: logWaiting(log) }, declared);
  const retrying = opening.use(startRetrying({ ...dependencies, reacting }));
  if (reacting !== undefined) opening.use(await reacting.start(retrying.wake));
  return opening.move();
};

/** Its code is loaded only if events or times may have other consequences than ends. */
const followingIn = async (domain: Domain): Promise<Following | undefined> => {
  const isDeclared = Object.values(domain.kinds).some((kind) =>
    [kind.react, kind.timers, kind.schedules].some((declared) => Object.keys(declared).length > 0),
  );
  if (!isDeclared && reactionsIn(domain).every((reaction) => membershipOf(reaction) !== undefined))
    return undefined;
  return (await import('#kernel/decide/reactions.ts')).followingOf(domain);
};

const readSteps = (stepsOf: StepsOf, event: RecordedEvent, log: Log): readonly Step[] => {
  try {
    return stepsOf(event);
  } catch (err) {
    reportUnreadable(log, err, event);
    return [];
  }
};
