import type { EventLog } from './event-log.ts';
import { openEventStoreEventLog } from './eventstoredb/eventstore-event-log.ts';
import { openPostgresEventLog } from './postgres/postgres-event-log.ts';

/** Opens the event log that a URL names: `postgres:…`, or `esdb:…` for EventStoreDB. */
export const openEventLog = async ({ url }: { url: string }): Promise<EventLog> => {
  const [scheme] = url.split(':', 1);
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
      return openPostgresEventLog({ url });
    case 'esdb':
    case 'esdb+discover':
      return openEventStoreEventLog({ url });
    default:
      throw new Error(`EVENT_LOG_URL starts with ${scheme}: and only postgres: and esdb: are event logs`);
  }
};
