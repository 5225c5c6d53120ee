import type { EventLog } from './event-log.ts';

type OpenedLog = {
  readonly url: string;
  /** Of the same database without a pooler, where one is at `url`. */
  readonly directUrl?: string | undefined;
};

/** Opens the event log that a URL names: `postgres:…`, or `esdb:…` for EventStoreDB. Only the engine in use is loaded. */
export const openEventLog = async ({ url, directUrl }: OpenedLog): Promise<EventLog> => {
  const [scheme] = url.split(':', 1);
  switch (scheme) {
    case 'postgres':
    case 'postgresql': {
      const { openPostgresEventLog } = await import('./postgres/postgres-event-log.ts');
      return openPostgresEventLog({ url, directUrl });
    }
    case 'esdb':
    case 'esdb+discover': {
      const { openEventStoreEventLog } = await import('./eventstoredb/eventstore-event-log.ts');
      return openEventStoreEventLog({ url });
    }
    default:
      throw new Error(`an event log cannot be opened at ${scheme}: – only at postgres: and esdb:`);
  }
};
