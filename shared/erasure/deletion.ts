import type { UserId } from '#shared/brands.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { streamName } from '#shared/events/streams.ts';

/** Whether the log says that somebody was deleted. It does before their key is destroyed. */
export const isDeletionRecorded = async (
  eventLog: Pick<EventLog, 'read'>,
  userId: UserId,
): Promise<boolean> => {
  for await (const page of eventLog.read(streamName('user', userId)))
    if (page.some(({ type }) => type === 'user.deleted')) return true;
  return false;
};
