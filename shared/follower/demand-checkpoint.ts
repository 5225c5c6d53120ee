import type { EventLog } from '#shared/event-log/event-log.ts';
import { StartRefused } from '#shared/start-refused.ts';
import type { Checkpoint } from './checkpoint.ts';

/** Refuses to start a follower whose checkpoint does not belong to this log: going on would skip events in silence, or repeat them. */
export const demandCheckpoint = async (follower: string, eventLog: EventLog, checkpoint: Checkpoint | undefined): Promise<void> => {
  if (!checkpoint) return;
  const { log, position } = checkpoint;
  if (log !== eventLog.identity) {
    throw new StartRefused(
      `The ${follower} has followed the event log ${log}, and EVENT_LOG_URL names ${eventLog.identity}: ` +
        'set it back, or give DATABASE_URL a database that belongs to this log.',
    );
  }
  const head = await eventLog.head();
  if (position > head) {
    throw new StartRefused(
      `The ${follower} is at position ${position}, beyond the end of the event log at ${head}: ` +
        'the log was restored to an earlier time than the database; restore both to the same.',
    );
  }
};
