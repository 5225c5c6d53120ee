import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';

/**
 * A log read in small pages, each emptied once the next is requested: a reader that keeps pages keeps
 * nothing.
 */
export const smallPages = (eventLog: Pick<EventLog, 'read'>, size: number): Pick<EventLog, 'read'> => ({
  async *read(stream, from, to) {
    for await (const events of eventLog.read(stream, from, to))
      for (let index = 0; index < events.length; index += size) {
        const page: RecordedEvent[] = events.slice(index, index + size);
        yield page;
        page.length = 0;
      }
  },
});
