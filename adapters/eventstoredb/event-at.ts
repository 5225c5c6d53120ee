import type { EventId, Position } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import { isNoRecord } from './failures.ts';
import { isEventOf } from './neighbours.ts';
import { ask, type Reader, readingOf, refuseIfClosed } from './read.ts';
import { takeAll } from './reading.ts';
import type { StoredEvent } from './record.ts';
import { serverPositionOf } from './server-positions.ts';

/**
 * The event that begins at a position; undefined also if the server refuses the position because no record
 * begins there.
 */
export const readEventAt = async (reader: Reader, position: Position): Promise<EventId | undefined> => {
  if (position === START) return undefined;
  return ask(reader, `a look at position ${position}`, () => lookAt(reader, position));
};

/** The same in one attempt. */
export const lookAt = async (reader: Reader, position: Position): Promise<EventId | undefined> => {
  const record = await recordAt(reader, position);
  if (record && isEventOf(reader, record) === undefined) await reader.neighbours.lookUp(record);
  return record && isEventOf(reader, record) ? (record.id as EventId) : undefined;
};

/**
 * The record that begins at a position, whoever wrote it. The read has no filter: with one, the server would
 * search what is behind the position.
 */
export const recordAt = async (reader: Reader, position: Position): Promise<StoredEvent | undefined> => {
  let found: StoredEvent | undefined;
  const read = reader.connection.client.readAll({ fromPosition: serverPositionOf(position), maxCount: 1 });
  const onEvent = ({ event }: { readonly event?: StoredEvent }): boolean => {
    if (event?.position && Number(event.position.commit) === position) found = event;
    return false;
  };
  await takeAll(read, { ...readingOf(reader), onEvent }).catch(orNoRecord);
  refuseIfClosed(reader);
  return found;
};

const orNoRecord = (error: unknown): void => {
  if (!isNoRecord(error)) throw error;
};
