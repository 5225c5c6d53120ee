import { v5 } from 'uuid';
import type { Membership } from '#kernel/decide/memberships.ts';
import type { EventId, UserId } from '#shared/brands.ts';
import { isPassing } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Log } from '#shared/log.ts';
import { recordedOnly, traceIdOf } from '#shared/tracing/traceparent.ts';
import { errorTypeOf, NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { type EraseDependencies, erase } from '../erasure/erase.ts';
import { endChild } from './end-child.ts';
import { park, type Task } from './parked.ts';

export type TaskDependencies = EraseDependencies & {
  readonly pool: Pool;
  /** What ends with what. */
  readonly memberships: readonly Membership[];
  readonly eventLog: Pick<EventLog, 'read' | 'append' | 'head'>;
  readonly codec: Pick<Codec, 'encode' | 'decodeAll'>;
  readonly log: Log;
  /** Off unless given. */
  readonly tracing?: Tracing | undefined;
};

/** Carries out a task, or parks it so that it holds up no other. Throws only if the log or the database does not answer. */
export const carryOutOrPark = async (dependencies: TaskDependencies, task: Task): Promise<'done' | 'parked'> => {
  try {
    await carryOut(dependencies, task);
    return 'done';
  } catch (err) {
    if (isOfEngines(err) && !(await doEnginesAnswer(dependencies))) throw err;
    await park(dependencies.pool, task, err);
    const traceId = traceIdOf(task.cause.metadata.trace);
    dependencies.log.error(
      { err, task: task.task, stream: task.stream, event: { id: task.cause.id }, traceId },
      'The process manager has parked what it could not carry out, and retries it.',
    );
    return 'parked';
  }
};

const isOfEngines = (error: unknown): boolean => isPassing(error) || error instanceof LogUnavailable;

/** If they do, the trouble is that of the task alone, such as a statement that takes too long. */
const doEnginesAnswer = ({ eventLog, pool }: TaskDependencies): Promise<boolean> =>
  Promise.all([eventLog.head(), pool.query('select')]).then(
    () => true,
    () => false,
  );

const carryOut = async (dependencies: TaskDependencies, { task, stream, cause }: Task): Promise<void> => {
  if (task === 'erase') return erase(dependencies, Number(stream.split('-')[1]) as UserId, cause.id);
  const { tracing = NO_TRACING } = dependencies;
  // If nobody records what it follows from, nobody records this.
  const { trace } = cause.metadata;
  const span =
    trace === undefined ? undefined : tracing.start('process-manager', { parent: trace, attributes: { 'annals.event.id': cause.id } });
  const metadata = {
    ...cause.metadata,
    trace: recordedOnly(span?.traceparent) ?? trace,
    at: new Date().toISOString(),
    actor: 'system:process-manager',
    causation: cause.id,
  } as const;
  try {
    // The id is made from the event that this follows from, so that doing it again does it once.
    await endChild(dependencies, { stream, eventId: v5(`${stream} 0`, cause.id) as EventId, metadata });
  } catch (error) {
    span?.fail(errorTypeOf(error));
    throw error;
  } finally {
    span?.end();
  }
};
