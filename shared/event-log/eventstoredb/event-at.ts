import type { EventId, Position } from '#shared/brands.ts';
import { START } from '../event-log.ts';
import { isNoRecord } from './failures.ts';
import { ask, type Reader, readingOf, refuseIfClosed } from './read.ts';
import { takeAll } from './reading.ts';
import { isOfSystem, positionOf, type StoredEvent } from './record.ts';
import { serverPositionOf } from './server-positions.ts';

/**
 * The event that begins at a position; undefined also if the server refuses the position because no record
 * begins there.
 */
export const readEventAt = async (reader: Reader, position: Position): Promise<EventId | undefined> => {
  if (position === START) return undefined;
  return ask(reader, `a look at position ${position}`, async () => {
    let found: EventId | undefined;
    const read = reader.connection.client.readAll({ fromPosition: serverPositionOf(position), maxCount: 1 });
    const onEvent = ({ event }: { readonly event?: StoredEvent }): boolean => {
      if (event && positionOf(event) === position && !isOfSystem(event)) found = event.id as EventId;
      return false;
    };
    await takeAll(read, { ...readingOf(reader), onEvent }).catch(orNoRecord);
    refuseIfClosed(reader);
    return found;
  });
};

const orNoRecord = (error: unknown): void => {
  if (!isNoRecord(error)) throw error;
};
