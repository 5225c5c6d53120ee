import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Snapshot } from './snapshots.ts';

/**
 * Whether the log still has the last event of a snapshot: not if it went back, and has another history since.
 */
export const isInLog = async (
  eventLog: Pick<EventLog, 'read'>,
  { stream, version, event }: Snapshot,
): Promise<boolean> => {
  for await (const [found] of eventLog.read(stream, version, version)) return found?.id === event;
  return false;
};
