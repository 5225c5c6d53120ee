import type { EventId } from '#kernel/base/brands.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Pool } from '#shared/database/pool.ts';
import { indexEnd, readBehind } from '#shared/event-index/behind.ts';
import { findIndexed } from '#shared/event-index/event-index.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { readFailureOf } from '../rows/statement.ts';

type Sources = {
  readonly pool: Pool;
  readonly changes: Pick<ChangeStream, 'head'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'read' | 'follow'>;
};

/**
 * Finds an event by the index, or in the log after it; undefined for events that the read model has not
 * reached.
 */
export const findEvent = async (
  { pool, eventLog, changes }: Sources,
  id: EventId,
): Promise<RecordedEvent | undefined> => {
  const upTo = await changes.head();
  const place = await findIndexed(pool, id).catch((cause: unknown) => {
    throw readFailureOf(cause);
  });
  if (place === undefined) {
    const events = await readBehind(eventLog, { after: await indexEnd({ pool, eventLog }), upTo });
    return events.find((event) => event.id === id);
  }
  if (place.position > upTo) return undefined;
  // The log may have lost it since it was indexed.
  for await (const [event] of eventLog.read(place.stream, place.version, place.version))
    return event?.id === id ? event : undefined;
  return undefined;
};
