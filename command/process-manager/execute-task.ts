import { v5 } from 'uuid';
import type { EventId, StreamName, UserId } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { idIn } from '#kernel/base/events/streams.ts';
import { recordedOnly, traceIdOf } from '#kernel/base/traceparent.ts';
import type { Membership } from '#kernel/decide/memberships.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { isPassing } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Log } from '#shared/log.ts';
import { errorTypeOf, NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { type EraseDependencies, erase } from '../erasure/erasures.ts';
import { endChild } from './end-child.ts';
import { park, type Task } from './parked.ts';
import type { Cause } from './steps.ts';

export type TaskDependencies = EraseDependencies & {
  readonly pool: Pool;
  /** The aggregates that end with others. */
  readonly memberships: readonly Membership[];
  readonly eventLog: Pick<EventLog, 'read' | 'append' | 'head'>;
  readonly codec: Pick<Codec, 'encode' | 'decodeAll'>;
  readonly log: Log;
  /** Off by default. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
};

/**
 * Executes a task, or parks it so that it delays no other. Throws only if the log or the database is
 * unavailable.
 */
export const executeOrPark = (dependencies: TaskDependencies, task: Task): Promise<'done' | 'parked'> =>
  doOrPark(dependencies, task, {
    work: () => execute(dependencies, task),
    park: (error) => park(dependencies.pool, task, error),
  });

type Failing = { work(): Promise<void>; park(error: unknown): Promise<void> };
type Subject = {
  readonly task: string;
  readonly stream: StreamName;
  readonly name?: string;
  readonly cause: Cause;
};

/** Executes a consequence of an event, or parks it; throws only if the log or the database is unavailable. */
export const doOrPark = async (
  dependencies: TaskDependencies,
  { cause, ...subject }: Subject,
  { work, park }: Failing,
): Promise<'done' | 'parked'> => {
  try {
    await work();
    return 'done';
  } catch (err) {
    if (isOfEngines(err) && !(await doEnginesAnswer(dependencies))) throw err;
    await park(err);
    dependencies.log.error(
      { err, ...subject, event: { id: cause.id }, traceId: traceIdOf(cause.metadata.trace) },
      'The process manager has parked a failed task and retries it.',
    );
    return 'parked';
  }
};

/** Waits for all promises before it throws, so that none continues after the lease is released. */
export const allDone = async (running: readonly Promise<unknown>[]): Promise<void> => {
  for (const outcome of await Promise.allSettled(running))
    if (outcome.status === 'rejected') throw outcome.reason;
};

const isOfEngines = (error: unknown): boolean => isPassing(error) || error instanceof LogUnavailable;

/** If both are available, the failure concerns this task alone, such as a statement that takes too long. */
const doEnginesAnswer = ({ eventLog, pool }: TaskDependencies): Promise<boolean> =>
  Promise.all([eventLog.head(), pool.query('select')]).then(
    () => true,
    () => false,
  );

const execute = async (dependencies: TaskDependencies, task: Task): Promise<void> => {
  const { stream, parent, cause } = task;
  if (task.task === 'erase') return erase(dependencies, idIn(stream) as UserId, cause.id);
  // The id derives from the causing event, so that a retry has no further effect.
  const eventId = v5(`${stream} 0`, cause.id) as EventId;
  await following(dependencies, cause, (metadata) =>
    endChild(dependencies, { stream, parent, eventId, metadata }),
  );
};

/** Provides the metadata of resulting events: actor, time and causing event. */
export const following = async (
  { tracing = NO_TRACING, clock }: Pick<TaskDependencies, 'tracing' | 'clock'>,
  cause: Cause,
  work: (metadata: MetadataContext) => Promise<void>,
  origin: Pick<MetadataContext, 'actor' | 'causation' | 'reason'> = {
    actor: 'system:process-manager',
    causation: cause.id,
  },
): Promise<void> => {
  // No trace of the cause, no trace of this.
  const { trace } = cause.metadata;
  const span =
    trace === undefined
      ? undefined
      : tracing.start('process-manager', { parent: trace, attributes: { 'annals.event.id': cause.id } });
  try {
    await work({
      ...cause.metadata,
      trace: recordedOnly(span?.traceparent) ?? trace,
      at: new Date(clock.nowMs()).toISOString(),
      // Consequences of an imported event happen now.
      importedAt: undefined,
      // The cause has it.
      ...{ reason: undefined, signature: undefined },
      ...origin,
    });
  } catch (error) {
    span?.fail(errorTypeOf(error));
    throw error;
  } finally {
    span?.end();
  }
};
