import { StaleVersion } from '#shared/event-log/errors.ts';
import type { EventLog, NewEvent } from '#shared/event-log/event-log.ts';
import { errorTypeOf, type Tracing } from './tracing.ts';

/** Adds a span for each append to the trace of its events. */
export const traceAppends = (log: EventLog, tracing: Tracing): EventLog => {
  if (!tracing.isOn) return log;
  return {
    ...log,
    async append(stream, expected, events, when) {
      const trace = traceOf(events[0]);
      if (trace === undefined) return log.append(stream, expected, events, when);
      const [kind] = stream.split('-', 1);
      const attributes = { 'annals.stream.kind': kind, 'annals.event.types': events.map(({ type }) => type) };
      const span = tracing.start('append', { parent: trace, attributes });
      try {
        const appended = await log.append(stream, expected, events, when);
        span.set({ 'annals.position': appended.position });
        return appended;
      } catch (error) {
        // Another writer was first, and the command is decided again: nothing is wrong.
        if (error instanceof StaleVersion) span.set({ 'annals.outcome': 'stale_version' });
        else span.fail(errorTypeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  };
};

/** The trace of an event, in its stored metadata; few events have one. */
export const traceOf = (event: Pick<NewEvent, 'metadata'> | undefined): string | undefined => {
  const trace = event?.metadata.trace;
  return typeof trace === 'string' ? trace : undefined;
};
