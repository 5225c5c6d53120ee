import { StaleVersion } from '#shared/event-log/errors.ts';
import type { EventLog, NewEvent } from '#shared/event-log/event-log.ts';
import { errorTypeOf, type Tracing } from './tracing.ts';

/** The log, whose appends are seen in the traces that their events belong to. */
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
        // Another writer was first, and it is decided anew: nothing is wrong.
        if (error instanceof StaleVersion) span.set({ 'annals.outcome': 'stale_version' });
        else span.fail(errorTypeOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  };
};

/** The trace that an event belongs to, by its metadata as they are stored; few events have one. */
export const traceOf = (event: Pick<NewEvent, 'metadata'> | undefined): string | undefined => {
  const trace = event?.metadata.trace;
  return typeof trace === 'string' ? trace : undefined;
};
