import type { Position, StreamName } from '#kernel/base/brands.ts';
import { childrenOf, join, leave, markAsGone, orphansOf } from '../handling/membership.ts';
import { executeOrPark, type TaskDependencies } from './execute-task.ts';
import type { Cause, Link, Step } from './steps.ts';

const AT_ONCE = 100;
/** More than any setting allows. */
const WEBHOOKS_MAX = 10_000;

/**
 * Executes steps of one kind: the end of a deleted article’s comments, of a deleted user’s drafts, webhooks
 * and key, of a reclaimed account’s webhooks. Idempotent, so that it can resume from any earlier step after a
 * crash: records are written once, and resulting events have ids derived from their cause. Stops early on the
 * signal.
 */
export const executeSteps = async (
  dependencies: TaskDependencies,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<void> => {
  const links = steps.filter((step) => step.kind === 'join' || step.kind === 'leave');
  if (steps[0]?.kind === 'join') return executeJoins(dependencies, links, signal);
  if (steps[0]?.kind === 'leave') return leave(dependencies.pool, links);
  for (const step of steps) {
    if (step.kind === 'orphan') await endOrphans(dependencies, step, signal);
    if (step.kind === 'reclaim') await endReclaimed(dependencies, step, signal);
  }
};

const executeJoins = async (
  dependencies: TaskDependencies,
  links: readonly Link[],
  signal: AbortSignal,
): Promise<void> => {
  const causes = new Map(links.map(({ child, cause }) => [child, cause]));
  const late = await join(dependencies.pool, links);
  for (let from = 0; from < late.length && !signal.aborted; from += AT_ONCE) {
    const some = late.slice(from, from + AT_ONCE);
    await Promise.all(some.map((link) => end(dependencies, link, causes.get(link.child))));
  }
};

const endOrphans = async (
  dependencies: TaskDependencies,
  { parent, cause, isErased }: Extract<Step, { kind: 'orphan' }>,
  signal: AbortSignal,
): Promise<void> => {
  const { pool } = dependencies;
  await markAsGone(pool, parent);
  while (!signal.aborted) {
    const orphans = await orphansOf(pool, parent, AT_ONCE);
    if (orphans.length === 0) break;
    await Promise.all(orphans.map((child) => end(dependencies, { parent, child }, cause)));
    // Only now, so that a crash in between skips no child; a second run has no further effect.
    await leave(
      pool,
      orphans.map((child) => ({ parent, child })),
    );
  }
  if (isErased && !signal.aborted)
    await executeOrPark(dependencies, { task: 'erase', stream: parent, cause });
};

/**
 * Excludes webhooks that the owner registered later: they may already be recorded if the step is repeated
 * after a crash.
 */
const endReclaimed = async (
  dependencies: TaskDependencies,
  { parent, cause, position }: Extract<Step, { kind: 'reclaim' }>,
  signal: AbortSignal,
): Promise<void> => {
  const webhooks = await childrenOf(dependencies.pool, parent, { kind: 'webhook', limit: WEBHOOKS_MAX });
  for (const child of webhooks) {
    if (signal.aborted) return;
    const begun = await firstPosition(dependencies, child);
    if (begun !== undefined && begun < position) await end(dependencies, { parent, child }, cause);
  }
};

const firstPosition = async (
  { eventLog }: TaskDependencies,
  stream: StreamName,
): Promise<Position | undefined> => {
  for await (const [first] of eventLog.read(stream)) return first?.position;
  return undefined;
};

const end = async (
  dependencies: TaskDependencies,
  { parent, child }: Omit<Link, 'cause'>,
  cause: Cause | undefined,
): Promise<void> => {
  if (!cause) throw new Error(`the cause of the end of ${child} is unknown`);
  await executeOrPark(dependencies, { task: 'end', stream: child, parent, cause });
};
