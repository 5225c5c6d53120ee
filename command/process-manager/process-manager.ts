import { followingOf } from '#kernel/decide/reactions.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { Log } from '#shared/log.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';
import { traceIdOf } from '#shared/tracing/traceparent.ts';
import type { TaskDependencies } from './carry-out.ts';
import { takeSteps } from './follow-up.ts';
import { createReact, type ReactDependencies } from './react.ts';
import { declareReactions, startReactions } from './reactions.ts';
import { startRetrying } from './retry-parked.ts';
import { runsOf, type Step, type StepsOf, stepsBy } from './steps.ts';
import { createLook } from './timers.ts';

export type ProcessManagerDependencies = TaskDependencies & ReactDependencies & Omit<FollowerOptions, 'name' | 'act' | 'write'>;

/** The follower's name. */
export const PROCESS_MANAGER = 'process-manager';

/** What it does shows to nobody sooner than this matters. */
const REST_MS = 20;

export const migrateProcessManager = (pool: Pool): Promise<void> =>
  migrate(pool, PROCESS_MANAGER, new URL('./migrations/', import.meta.url));

/** Carries out what changes bring with them, in one process at a time. */
export const startProcessManager = async (dependencies: ProcessManagerDependencies): Promise<AsyncDisposable> => {
  const { pool, eventLog, log, metrics } = dependencies;
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
    async act(events, signal) {
      for (const run of runsOf(events.flatMap((event) => readSteps(stepsOf, event, log)))) {
        if (signal.aborted) return;
        await takeSteps(dependencies, run, signal);
      }
    },
  });
  opening.use(following);
  const declared = followingOf(dependencies.domain);
  await declareReactions(pool, eventLog, declared);
  const retrying = opening.use(
    startRetrying({ ...dependencies, following: declared, react: createReact(dependencies), look: createLook(dependencies) }),
  );
  if (declared !== undefined) opening.use(await startReactions({ ...dependencies, following: declared, committed: retrying.wake }));
  return opening.move();
};

/** A damaged event holds up nothing but what would have followed from it; whoever looks after the system is told. */
const readSteps = (stepsOf: StepsOf, event: RecordedEvent, log: Log): readonly Step[] => {
  try {
    return stepsOf(event);
  } catch (err) {
    const { id, type, stream, version, position } = event;
    const traceId = traceIdOf(traceOf(event));
    log.error(
      { err, event: { id, type, stream, version, position }, traceId },
      'The process manager cannot read an event and passes it over.',
    );
    return [];
  }
};
