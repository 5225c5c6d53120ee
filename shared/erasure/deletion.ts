import type { UserId } from '#shared/brands.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { streamName } from '#shared/events/streams.ts';

/** Whether the log has the deletion of a user. The deletion precedes the destruction of their key. */
export const isDeletionRecorded = async (
  eventLog: Pick<EventLog, 'read'>,
  userId: UserId,
): Promise<boolean> => {
  for await (const page of eventLog.read(streamName('user', userId)))
    if (page.some(({ type }) => type === 'user.deleted')) return true;
  return false;
};
