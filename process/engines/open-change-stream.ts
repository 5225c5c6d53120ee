import { parseKafkaUrl } from '#adapters/kafka/kafka-url.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import {
  openPostgresChangeStream,
  type PostgresChangeStreamOptions,
} from '#shared/change-stream/postgres/postgres-change-stream.ts';
import type { Publication } from '#shared/change-stream/publication.ts';
import type { NamingLog } from '#shared/event-log/own-cursor.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Log } from '#shared/log.ts';

type ChangeStreamOptions = PostgresChangeStreamOptions & {
  /** Of the setting CHANGE_STREAM_URL. */
  readonly url: string;
  readonly log: Log;
};

/** Opens the change stream at a URL: `postgres:`, or `kafka://…`, whose driver is loaded only then. */
export const openChangeStream = async ({
  url,
  log,
  ...following
}: ChangeStreamOptions): Promise<ChangeStream> => {
  const [scheme] = url.split(':', 1);
  switch (scheme) {
    case 'postgres':
      return openPostgresChangeStream(following);
    case 'kafka': {
      const address = parseKafkaUrl(url);
      if (!address) break;
      const { openKafkaChangeStream } = await loadEngine(
        'Kafka',
        () => import('#adapters/kafka/kafka-change-stream.ts'),
      );
      const fromLog = openPostgresChangeStream(following);
      return openKafkaChangeStream({
        address,
        catalogue: catalogueOf(following.domain),
        identity: following.eventLog.identity,
        log,
        clock: following.clock,
        fromLog,
      });
    }
  }
  throw new Error(
    `a change stream cannot be opened at this ${scheme}: URL – only at postgres: and kafka://…`,
  );
};

type PublicationOptions = {
  readonly url: string;
  readonly eventLog: NamingLog;
  readonly log: Log;
  /** The URL by which consumers know this installation. */
  readonly publicUrl: string;
};

/** Opens the publication that fills the stream at this URL; undefined if the stream follows the log. */
export const openPublication = async ({
  url,
  ...options
}: PublicationOptions): Promise<Publication | undefined> => {
  const address = parseKafkaUrl(url);
  if (!address) return undefined;
  const { openKafkaPublication } = await loadEngine(
    'Kafka',
    () => import('#adapters/kafka/kafka-publication.ts'),
  );
  return openKafkaPublication({ address, ...options });
};
