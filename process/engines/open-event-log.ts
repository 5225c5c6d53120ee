import { hostsIn } from '#adapters/eventstoredb/address.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { AuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { demandPostgres } from '#shared/database/demand-postgres.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { LogOwner } from '#shared/event-log/owner/owner.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Log } from '#shared/log.ts';
import { causesOf, createOutageLines, type OutageLines } from '#shared/outage-lines.ts';

type Configured = {
  readonly eventLogUrl: string | undefined;
  readonly databaseUrl: string;
  readonly directUrl?: string | undefined;
  readonly clock: Clock;
} & Owning;

type Owning = {
  /** The EVENT_LOG_PREFIX; one database has one log. */
  readonly eventLogPrefix?: string | undefined;
  /** Without one, a shared server is asked for no owner. */
  readonly owner?: LogOwner | undefined;
  /** Without it, events get no MAC and need none: for a look at a log. */
  readonly authentic?: AuthenticEvents | undefined;
};

/**
 * Opens the log of EVENT_LOG_URL, or else the one in the database. If it is unreachable, the error is one
 * sentence.
 */
export const openConfiguredEventLog = async ({
  eventLogUrl,
  databaseUrl,
  directUrl,
  ...others
}: Configured): Promise<EventLog> => {
  const url = eventLogUrl ?? databaseUrl;
  if (eventLogUrl !== undefined && isPostgres(eventLogUrl))
    await demandPostgres({ url: eventLogUrl, setting: 'EVENT_LOG_URL' });
  return openEventLog({
    ...{ url, directUrl: eventLogUrl === undefined ? directUrl : undefined },
    ...others,
  }).catch(async (cause: unknown) => {
    if (isPostgres(url) || !(cause instanceof LogUnavailable)) throw cause;
    const { explainRefusal } = await import('#adapters/eventstoredb/explain-refusal.ts');
    const why = await explainRefusal(url, cause);
    throw new StartRefused(why, { cause });
  });
};

/** Where the event log is, without user and password, for operators. */
export const placeOfLog = ({ eventLogUrl }: Pick<Configured, 'eventLogUrl'>): string => {
  if (eventLogUrl === undefined) return 'the database';
  if (!isPostgres(eventLogUrl)) return `EventStoreDB at ${hostsIn(eventLogUrl)?.join()}`;
  const { host, pathname } = new URL(eventLogUrl);
  return `PostgreSQL at ${host}${pathname}`;
};

/** Whether others may use the server of the event log too. */
export const isOnSharedServer = (eventLogUrl: string | undefined): boolean =>
  eventLogUrl !== undefined && !isPostgres(eventLogUrl);

export const isPostgres = (url: string): boolean => /^postgres(ql)?:/.test(url);

type OpenedLog = {
  readonly url: string;
  /** Of the same database without a pooler, if there is one at `url`. */
  readonly directUrl?: string | undefined;
  readonly clock: Clock;
} & Owning;

/** Opens the event log at a URL: `postgres:…`, or `esdb:…` for EventStoreDB. Loads only the engine in use. */
export const openEventLog = async ({
  url,
  directUrl,
  clock,
  eventLogPrefix: prefix,
  owner,
  authentic,
}: OpenedLog): Promise<EventLog> => {
  const [scheme] = url.split(':', 1);
  switch (scheme) {
    case 'postgres':
    case 'postgresql': {
      const { openPostgresEventLog } = await import('#shared/event-log/postgres/postgres-event-log.ts');
      return openPostgresEventLog({ url, directUrl, clock, authentic });
    }
    case 'esdb':
    case 'esdb+discover': {
      const { openEventStoreEventLog } = await loadEngine(
        'EventStoreDB',
        () => import('#adapters/eventstoredb/eventstore-event-log.ts'),
      );
      return openEventStoreEventLog({ url, clock, prefix, owner, authentic });
    }
    default:
      throw new Error(`an event log cannot be opened at ${scheme}: – only at postgres: and esdb:`);
  }
};

/**
 * Logs for operators why the log accepts no appends or cannot be read: at most once for each cause and minute,
 * and once it responds again.
 */
export const logOutages = (
  eventLog: EventLog,
  { log, clock }: { readonly log: Pick<Log, 'warn' | 'info'>; readonly clock: Pick<Clock, 'elapsedMs'> },
): EventLog => {
  const lines = createOutageLines(() => clock.elapsedMs());
  const appending = logFailures({ log, lines }, 'takes appends');
  const reading = logFailures({ log, lines }, 'can be read');
  return {
    ...eventLog,
    append: (...given) => appending(eventLog.append(...given)),
    head: () => reading(eventLog.head()),
    eventAt: (position) => reading(eventLog.eventAt(position)),
  };
};

const logFailures = (
  { log, lines }: { readonly log: Pick<Log, 'warn' | 'info'>; readonly lines: OutageLines },
  does: string,
): (<Answer>(asked: Promise<Answer>) => Promise<Answer>) => {
  let isOut = false;
  return async (asked) => {
    try {
      const answer = await asked;
      if (isOut) log.info(`The event log ${does} again.`);
      isOut = false;
      return answer;
    } catch (error) {
      const cause = causeOf(error);
      if (cause !== undefined && lines.admit(`${does} ${cause}`) !== undefined) {
        isOut = true;
        log.warn(
          { reason: (error as Error).message },
          `The event log does not answer, or not in time (${causesOf(error)}). Until it ${does} again, each cause is logged once a minute.`,
        );
      }
      throw error;
    }
  };
};

/** Without parts that differ from one failure to the next, such as a time or a port. */
const causeOf = (error: unknown): string | undefined =>
  error instanceof LogUnavailable && error.cause instanceof Error
    ? causesOf(error).replaceAll(/\d+/g, '')
    : undefined;
