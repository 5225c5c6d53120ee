import { v5 } from 'uuid';
import type { Membership } from '#kernel/decide/memberships.ts';
import type { EventId, StreamName, UserId } from '#shared/brands.ts';
import { isPassing } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import type { Log } from '#shared/log.ts';
import { recordedOnly, traceIdOf } from '#shared/tracing/traceparent.ts';
import { errorTypeOf, NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { type Clock, REAL_TIME } from '../clock.ts';
import { type EraseDependencies, erase } from '../erasure/erase.ts';
import { endChild } from './end-child.ts';
import { park, type Task } from './parked.ts';
import type { Cause } from './steps.ts';

export type TaskDependencies = EraseDependencies & {
  readonly pool: Pool;
  /** What ends with what. */
  readonly memberships: readonly Membership[];
  readonly eventLog: Pick<EventLog, 'read' | 'append' | 'head'>;
  readonly codec: Pick<Codec, 'encode' | 'decodeAll'>;
  readonly log: Log;
  /** Off unless given. */
  readonly tracing?: Tracing | undefined;
  readonly clock?: Clock | undefined;
};

/** Carries out a task, or parks it so that it holds up no other. Throws only if the log or the database does not answer. */
export const carryOutOrPark = (dependencies: TaskDependencies, task: Task): Promise<'done' | 'parked'> =>
  doOrPark(dependencies, task, {
    work: () => carryOut(dependencies, task),
    park: (error) => park(dependencies.pool, task, error),
  });

type Failing = { work(): Promise<void>; park(error: unknown): Promise<void> };
type Told = { readonly task: string; readonly stream: StreamName; readonly name?: string; readonly cause: Cause };

/** Does what follows from an event, or parks it; throws only if the log or the database does not answer. */
export const doOrPark = async (
  dependencies: TaskDependencies,
  { cause, ...told }: Told,
  { work, park }: Failing,
): Promise<'done' | 'parked'> => {
  try {
    await work();
    return 'done';
  } catch (err) {
    if (isOfEngines(err) && !(await doEnginesAnswer(dependencies))) throw err;
    await park(err);
    dependencies.log.error(
      { err, ...told, event: { id: cause.id }, traceId: traceIdOf(cause.metadata.trace) },
      'The process manager has parked what it could not carry out, and retries it.',
    );
    return 'parked';
  }
};

/** Waits for all of them before it throws what one of them threw, so that none goes on once the lease is let go. */
export const allDone = async (running: readonly Promise<unknown>[]): Promise<void> => {
  for (const outcome of await Promise.allSettled(running)) if (outcome.status === 'rejected') throw outcome.reason;
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
  // The id is made from the event that this follows from, so that doing it again does it once.
  const eventId = v5(`${stream} 0`, cause.id) as EventId;
  await following(dependencies, cause, (metadata) => endChild(dependencies, { stream, eventId, metadata }));
};

/** What the events of the work say of themselves: by whom, when, and because of which event. */
export const following = async (
  { tracing = NO_TRACING, clock = REAL_TIME }: Pick<TaskDependencies, 'tracing' | 'clock'>,
  cause: Cause,
  work: (metadata: MetadataContext) => Promise<void>,
): Promise<void> => {
  // If nobody records what it follows from, nobody records this.
  const { trace } = cause.metadata;
  const span =
    trace === undefined ? undefined : tracing.start('process-manager', { parent: trace, attributes: { 'annals.event.id': cause.id } });
  try {
    await work({
      ...cause.metadata,
      trace: recordedOnly(span?.traceparent) ?? trace,
      at: new Date(Date.now() + clock.aheadMs()).toISOString(),
      actor: 'system:process-manager',
      causation: cause.id,
    });
  } catch (error) {
    span?.fail(errorTypeOf(error));
    throw error;
  } finally {
    span?.end();
  }
};
