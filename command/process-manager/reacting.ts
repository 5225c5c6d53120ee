import type { Following } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type FollowerOptions, startFollowing } from '#shared/follower/follower.ts';
import { REACTIONS } from '#shared/process-manager/followers.ts';
import { actsAfter, isDeclared, takeBack } from './declaration.ts';
import { allDone, doOrPark, type TaskDependencies } from './execute-task.ts';
import { type Happened, notePage, pagesOf, type ReactionPage } from './fan-out.ts';
import { demandFence, type Fence, Overtaken, type Waiting } from './fence.ts';
import { meaningOf, noteReactions, referencesTo } from './note-reactions.ts';
import { createReact, type ReactDependencies } from './react.ts';
import { reportUnreadable } from './report-unreadable.ts';
import type { Reacting } from './retry-parked.ts';
import { createScheduling, type Scheduling } from './schedules.ts';
import { dropTask, inTurn, parkTask, type ReactionTask } from './tasks.ts';
import { createLook, isLook, type Look } from './timers.ts';

type Dependencies = TaskDependencies &
  ReactDependencies & {
    readonly cell?: number | undefined;
  } & Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock'> & {
    readonly waiting: Waiting;
  };

/** Reactions and timers: the code that only domains which declare some load. */
export const createReacting = (
  dependencies: Dependencies,
  following: Following,
): Reacting & { start(committed: () => void): Promise<AsyncDisposable> } => {
  const parts = {
    ...dependencies,
    react: createReact(dependencies),
    look: createLook(dependencies),
    scheduling: createScheduling(dependencies),
  };
  return {
    fingerprint: following.fingerprint,
    hasSchedules: parts.scheduling !== undefined,
    followUp: (fence) => followUp(parts, fence),
    start: (committed) => startReactions({ ...dependencies, following, committed }),
  };
};

type Parts = Pick<Dependencies, keyof TaskDependencies | 'waiting'> & {
  readonly react: (task: ReactionTask) => Promise<void>;
  readonly look: Look;
  readonly scheduling: Scheduling | undefined;
};

/**
 * Returns whether there was anything to do. A leader that was replaced releases the lease, so that its
 * successor can take it.
 */
const followUp = (dependencies: Parts, fence: Fence): (() => Promise<boolean>) => {
  const { pool, eventLog, look, scheduling, waiting } = dependencies;
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
    const hasRun = (await scheduling?.atAll(fence)) === true;
    const hasLooked = await look.atAll(fence);
    const { tasks, isLast } = await next();
    await executeAll(dependencies, tasks, fence);
    return hasRun || hasLooked || !isLast;
  };
};

/** Executes tasks of different aggregates in parallel. */
const executeAll = async (
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

type Noting = Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock' | 'committed'> & {
  readonly domain: Domain;
  readonly following: Following;
  readonly waiting: Waiting;
};

/** A short delay that nobody notices. */
const REST_MS = 10;

/** Follows the log and records the tasks that result from events. */
const startReactions = (dependencies: Noting): Promise<AsyncDisposable> => {
  const { domain, following, pool, eventLog, log, metrics, clock, committed, waiting } = dependencies;
  const catalogue = catalogueOf(domain);
  const reportDamaged = (err: unknown, event: RecordedEvent): void => reportUnreadable(log, err, event);
  const happened = (event: RecordedEvent): Happened | undefined => {
    const { stream, type, position } = event;
    const references = referencesTo(following, event);
    const meaning = references.length > 0 ? meaningOf({ following, catalogue }, event, () => {}) : undefined;
    return (
      meaning && {
        parent: stream,
        type,
        position,
        references,
        cause: meaning.cause,
        isEnd: following.lastingEnds.has(type),
      }
    );
  };
  return startFollowing<ReactionPage>({
    ...{ name: REACTIONS, isRequired: false, restMs: REST_MS, pool, eventLog, log, metrics, clock },
    ...(committed && { committed }),
    isExpected: (error) => error instanceof Overtaken,
    async *follow(after, signal, event) {
      // A leader that was replaced releases the lease, even if no event arrives.
      if (!(await isDeclared(pool, following))) return waiting.begins();
      yield* pagesOf({ pool, eventLog, happened }, { after, signal, event });
    },
    async write(page, connection) {
      const after = await actsAfter(connection, following, 'for share');
      if ('before' in page) await notePage(connection, page.before);
      else await noteReactions(connection, { following, after, catalogue }, page.events, reportDamaged);
    },
  });
};
