import { demandPostgres } from '#shared/database/demand-postgres.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { LogUnavailable } from './errors.ts';
import type { EventLog } from './event-log.ts';
import { hostsIn } from './eventstoredb/address.ts';
import { openEventLog } from './open.ts';

type Configured = { readonly eventLogUrl: string | undefined; readonly databaseUrl: string; readonly directUrl?: string | undefined };

/** Opens the log that EVENT_LOG_URL names, or else the one in the database. One that cannot be reached is one sentence. */
export const openConfiguredEventLog = async ({ eventLogUrl, databaseUrl, directUrl }: Configured): Promise<EventLog> => {
  const url = eventLogUrl ?? databaseUrl;
  if (eventLogUrl !== undefined && isPostgres(eventLogUrl)) await demandPostgres({ url: eventLogUrl, setting: 'EVENT_LOG_URL' });
  return openEventLog({ url, directUrl: eventLogUrl === undefined ? directUrl : undefined }).catch((cause: unknown) => {
    if (isPostgres(url)) throw cause;
    const why = explain(cause, hostsIn(url)?.join() ?? 'the address');
    throw why === undefined ? cause : new StartRefused(why, { cause });
  });
};

export const isPostgres = (url: string): boolean => /^postgres(ql)?:/.test(url);

const explain = (error: unknown, place: string): string | undefined => {
  if (error instanceof LogUnavailable) return `No EventStoreDB answers at ${place}: start it, or set EVENT_LOG_URL to one that runs.`;
  // Told by its type, as everywhere that this client's failures are told apart.
  const isDenied = error instanceof Error && 'type' in error && error.type === 'access-denied';
  return isDenied ? `EventStoreDB at ${place} refuses the user of EVENT_LOG_URL, or what that user may do.` : undefined;
};
