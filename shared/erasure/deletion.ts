import type { UserId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';

/** Whether the log has the deletion of a user. The deletion precedes the destruction of their key. */
export const isDeletionRecorded = async (
  eventLog: Pick<EventLog, 'read'>,
  userId: UserId,
): Promise<boolean> => {
  for await (const page of eventLog.read(streamName('user', userId)))
    if (page.some(({ type }) => type === 'user.deleted')) return true;
  return false;
};
