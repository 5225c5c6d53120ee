import type { EventLog } from '#shared/event-log/event-log.ts';
import { requestOf } from './known-keys.ts';
import type { ImportLine } from './line.ts';
import { FaultOfLine } from './resolve-names.ts';

/**
 * Imports one line after the other, because each is decided on what the lines before it have changed, and the
 * log must have their order.
 */
export const createLineOrder = (log: EventLog, latestBefore: string) => {
  let latest = latestBefore;
  let current = '';
  let hasEvents = false;
  const append: EventLog['append'] = async (stream, expected, events, options) => {
    const appended = await log.append(stream, expected, events, options);
    if (String(events[0]?.metadata.request) === current) hasEvents = true;
    return appended;
  };
  return {
    log: { ...log, append } satisfies EventLog,
    /** Before anything of the line is decided, so that a refused one leaves nothing behind. */
    demandTime(line: ImportLine): void {
      demandNotLate(line, latest);
    },
    /** Returns whether the line has events. */
    async run(line: ImportLine, take: () => Promise<void>): Promise<boolean> {
      current = requestOf(line.key);
      hasEvents = false;
      await take();
      if (hasEvents) latest = line.at;
      return hasEvents;
    },
  };
};

/** Refuses a line that happened before `latest`, the greatest time in the log: `?at=` would not be exact. */
export const demandNotLate = ({ at }: ImportLine, latest: string): void => {
  if (at < latest)
    throw new FaultOfLine(
      `its time, ${at}, is before ${latest}, that of an event in the log: import before anything else happens, into an installation without users, with the lines in the order of time`,
    );
};

export const demandPast = ({ at }: ImportLine, now: string): void => {
  if (at > now) throw new FaultOfLine(`its time, ${at}, is in the future`);
};
