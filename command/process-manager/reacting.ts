import type { Following } from '#kernel/decide/reactions.ts';
import type { FollowerOptions } from '#shared/follower/follower.ts';
import { allDone, doOrPark, type TaskDependencies } from './carry-out.ts';
import { isDeclared, takeBack } from './declaration.ts';
import { demandFence, type Fence, Overtaken, type Waiting } from './fence.ts';
import { createReact, type ReactDependencies } from './react.ts';
import { startReactions } from './reactions.ts';
import type { Reacting } from './retry-parked.ts';
import { dropTask, inTurn, parkTask, type ReactionTask } from './tasks.ts';
import { createLook, isLook, type Look } from './timers.ts';

type Dependencies = TaskDependencies &
  ReactDependencies &
  Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'> & { readonly waiting: Waiting };

/** Reactions and timers: the code that only domains which declare some load. */
export const createReacting = (
  dependencies: Dependencies,
  following: Following,
): Reacting & { start(committed: () => void): Promise<AsyncDisposable> } => {
  const parts = { ...dependencies, react: createReact(dependencies), look: createLook(dependencies) };
  return {
    fingerprint: following.fingerprint,
    followUp: (fence) => followUp(parts, fence),
    start: (committed) => startReactions({ ...dependencies, following, committed }),
  };
};

type Parts = Pick<Dependencies, keyof TaskDependencies | 'waiting'> & {
  readonly react: (task: ReactionTask) => Promise<void>;
  readonly look: Look;
};

/**
 * Returns whether there was anything to do. A leader that was replaced releases the lease, so that its
 * successor can take it.
 */
const followUp = (dependencies: Parts, fence: Fence): (() => Promise<boolean>) => {
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
  dependencies: Parts,
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
