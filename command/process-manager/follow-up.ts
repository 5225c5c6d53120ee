import { v5 } from 'uuid';
import type { ArticleId, CommentId, EventId, StreamName, WebhookId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { recordedOnly } from '#shared/tracing/traceparent.ts';
import { errorTypeOf, NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { article } from '../articles/article.ts';
import type { Circumstances } from '../circumstances.ts';
import { comment } from '../comments/comment.ts';
import { type EraseDependencies, erase } from '../erasure/erase.ts';
import type { Executor } from '../execute.ts';
import { webhook } from '../webhooks/webhook.ts';
import { join, leave, markAsGone, orphansOf } from './membership.ts';
import type { Cause, Link, Step } from './steps.ts';

export type FollowUpDependencies = EraseDependencies & {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly executor: Executor;
  /** Off unless given. */
  readonly tracing?: Tracing | undefined;
};

const AT_ONCE = 100;

/**
 * Carries out steps of one kind: the comments of a deleted article, the drafts, the webhooks and the key of a deleted user.
 * All of it may be done again after a crash, from any earlier step on: what is noted is noted once, and the events that follow
 * have ids made from the event that they follow from. It stops early where the signal says so.
 */
export const takeSteps = async (dependencies: FollowUpDependencies, steps: readonly Step[], signal: AbortSignal): Promise<void> => {
  const links = steps.filter((step) => step.kind === 'join' || step.kind === 'leave');
  switch (steps[0]?.kind) {
    case 'join':
      return takeJoins(dependencies, links, signal);
    case 'leave':
      return leave(dependencies.pool, links);
    case 'orphan':
      for (const step of steps) if (step.kind === 'orphan') await takeOrphans(dependencies, step, signal);
      return;
    case undefined:
      return;
  }
};

const takeJoins = async (dependencies: FollowUpDependencies, links: readonly Link[], signal: AbortSignal): Promise<void> => {
  const causes = new Map(links.map(({ child, cause }) => [child, cause]));
  const late = await join(dependencies.pool, links);
  for (let from = 0; from < late.length && !signal.aborted; from += AT_ONCE) {
    const some = late.slice(from, from + AT_ONCE);
    await Promise.all(some.map(({ child }) => end(dependencies, child, causes.get(child))));
  }
};

const takeOrphans = async (
  dependencies: FollowUpDependencies,
  { parent, cause, erased }: Extract<Step, { kind: 'orphan' }>,
  signal: AbortSignal,
): Promise<void> => {
  const { pool } = dependencies;
  await markAsGone(pool, parent);
  while (!signal.aborted) {
    const orphans = await orphansOf(pool, parent, AT_ONCE);
    if (orphans.length === 0) break;
    await Promise.all(orphans.map((child) => end(dependencies, child, cause)));
    // Only now, so that a crash in between leaves nobody out; what is done stays done when the whole is begun anew.
    await leave(
      pool,
      orphans.map((child) => ({ parent, child })),
    );
  }
  if (erased !== undefined && !signal.aborted) await erase(dependencies, erased, cause.id);
};

/** Ends what cannot be without its parent. An article that was published meanwhile stays. */
const end = async (dependencies: FollowUpDependencies, stream: StreamName, cause: Cause | undefined): Promise<void> => {
  if (!cause) throw new Error(`nothing is known from which the end of ${stream} follows`);
  const { tracing = NO_TRACING } = dependencies;
  // Where nobody records what it follows from, nobody records this.
  const { trace } = cause.metadata;
  const span =
    trace === undefined ? undefined : tracing.start('process-manager', { parent: trace, attributes: { 'annals.event.id': cause.id } });
  try {
    await endTraced(dependencies, stream, { ...cause, metadata: { ...cause.metadata, trace: recordedOnly(span?.traceparent) ?? trace } });
  } catch (error) {
    span?.fail(errorTypeOf(error));
    throw error;
  } finally {
    span?.end();
  }
};

const endTraced = ({ executor }: FollowUpDependencies, stream: StreamName, cause: Cause): Promise<unknown> => {
  const [kind, id] = stream.split('-');
  const circumstances = circumstancesOf(cause, stream);
  switch (kind) {
    case 'comment': {
      const command = { type: 'DeleteComment', commentId: Number(id) as CommentId } as const;
      return executor.change({ decider: comment, stream, decide: (state) => comment.decide(command, state) }, circumstances);
    }
    case 'article': {
      const command = { type: 'DiscardDraft', articleId: Number(id) as ArticleId } as const;
      return executor.change({ decider: article, stream, decide: (state) => article.decide(command, state) }, circumstances);
    }
    case 'webhook': {
      const command = { type: 'DeleteWebhook', webhookId: Number(id) as WebhookId } as const;
      return executor.change({ decider: webhook, stream, decide: (state) => webhook.decide(command, state) }, circumstances);
    }
    default:
      throw new Error(`${stream} belongs to nothing that can be deleted`);
  }
};

const circumstancesOf = ({ id, metadata }: Cause, stream: StreamName): Circumstances => ({
  metadata: { ...metadata, at: new Date().toISOString(), actor: 'system:process-manager', causation: id },
  ids: {
    event: (ordinal) => v5(`${stream} ${ordinal}`, id) as EventId,
    aggregate: () => {
      throw new Error('the process manager creates nothing');
    },
  },
  ifVersion: undefined,
  unlessVersion: undefined,
  mayBeRepeat: false,
});
