import type { Log } from '#shared/log.ts';
import { LogUnavailable } from './errors.ts';
import type { EventLog } from './event-log.ts';

/** Tells operators why the log takes no appends or is not read: once for each cause, and once it answers again. */
export const tellOutages = (eventLog: EventLog, { log }: { readonly log: Pick<Log, 'warn' | 'info'> }): EventLog => {
  const appending = createTeller(log, 'takes appends');
  const reading = createTeller(log, 'can be read');
  return {
    ...eventLog,
    append: (...given) => appending(eventLog.append(...given)),
    head: () => reading(eventLog.head()),
    eventAt: (position) => reading(eventLog.eventAt(position)),
  };
};

const createTeller = (log: Pick<Log, 'warn' | 'info'>, does: string): (<Answer>(asked: Promise<Answer>) => Promise<Answer>) => {
  let told: string | undefined;
  return async (asked) => {
    try {
      const answer = await asked;
      if (told !== undefined) log.info(`The event log ${does} again.`);
      told = undefined;
      return answer;
    } catch (error) {
      const cause = causeOf(error);
      if (cause !== undefined && cause !== told)
        log.warn({ err: error }, `The event log does not answer, or not in time. Until it ${does} again, only another cause is told.`);
      told = cause ?? told;
      throw error;
    }
  };
};

/** Without what differs from one failure to the next, such as a time or a port. */
const causeOf = (error: unknown): string | undefined =>
  error instanceof LogUnavailable && error.cause instanceof Error ? error.cause.message.replaceAll(/\d+/g, '') : undefined;
