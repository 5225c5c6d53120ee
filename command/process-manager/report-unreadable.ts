import { traceIdOf } from '#kernel/base/traceparent.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';

/** A damaged event delays nothing; only its own consequences are lost, and the log reports it to the operator. */
export const reportUnreadable = (
  log: Pick<Log, 'error'>,
  err: unknown,
  { id, type, stream, version, position, metadata }: RecordedEvent,
): void =>
  log.error(
    { err, event: { id, type, stream, version, position }, traceId: traceIdOf(traceOf({ metadata })) },
    'The process manager cannot read an event and skips it.',
  );
