import type { StreamName } from '#kernel/base/brands.ts';
import { StreamCut } from './errors.ts';
import { type EventLog, FIRST } from './event-log.ts';

/** How an operator has cut a stream; undefined if it has its first event, or never had one. */
export const findCut = async (
  eventLog: Pick<EventLog, 'read'>,
  stream: StreamName,
): Promise<StreamCut | undefined> => {
  try {
    for await (const _ of eventLog.read(stream, FIRST, FIRST)) return undefined;
  } catch (error) {
    if (error instanceof StreamCut) return error;
    throw error;
  }
  return undefined;
};
