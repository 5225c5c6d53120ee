import { StartRefused } from '#kernel/base/start-refused.ts';
import { askAgain, headReaching } from '#shared/event-log/ask-again.ts';
import { LogWentBack } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Checkpoint } from './checkpoint.ts';

/**
 * Refuses to start a follower whose checkpoint does not belong to this log: continuing would silently skip
 * events, or repeat them.
 */
export const demandCheckpoint = async (
  follower: string,
  eventLog: EventLog,
  checkpoint: Checkpoint | undefined,
): Promise<void> => {
  if (!checkpoint) return;
  const { log, position } = checkpoint;
  if (log !== eventLog.identity) {
    throw new StartRefused(
      `The ${follower} has followed the event log ${log}, but EVENT_LOG_URL names ${eventLog.identity}: ` +
        'set EVENT_LOG_URL and EVENT_LOG_PREFIX back, or set DATABASE_URL to the database that belongs to this log.',
    );
  }
  const head = await headReaching(eventLog, position);
  if (position > head) {
    throw new StartRefused(
      `The ${follower} is at position ${position}, beyond the end of the event log at ${head}: ` +
        'the log was restored to an earlier time than the database. Restore both to the same time.',
    );
  }
  await demandEvent(eventLog, checkpoint).catch((cause: unknown) => {
    if (!(cause instanceof LogWentBack)) throw cause;
    throw new StartRefused(
      `The ${follower} has followed events that the log has lost (${cause.message}): ` +
        'restore the log and the database to the same time, and follow “The log went back” in docs/runbooks.md.',
      { cause },
    );
  });
};

/** The position may exist again with another event, if the log has lost its end and was written to since. */
export const demandEvent = async (eventLog: EventLog, { position, event }: Checkpoint): Promise<void> => {
  if (event === null) return;
  const found = await askAgain(
    () => eventLog.eventAt(position),
    eventLog.late,
    (id) => id !== undefined,
  );
  if (found !== event) throw new LogWentBack({ position, id: event }, found);
};
