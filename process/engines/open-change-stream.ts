import { parseKafkaUrl } from '#adapters/kafka/kafka-url.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { PostgresChangeStreamOptions } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import type { Publication } from '#shared/change-stream/publication.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { NamingLog } from '#shared/event-log/own-cursor.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Log } from '#shared/log.ts';
import { whenAsked } from '#shared/when-asked.ts';

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
      return openWhenUsed(following);
    case 'kafka': {
      const address = parseKafkaUrl(url);
      if (!address) break;
      const { openKafkaChangeStream } = await loadEngine(
        'Kafka',
        () => import('#adapters/kafka/kafka-change-stream.ts'),
      );
      const fromLog = openWhenUsed(following);
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

/** Only parts follow changes: without one, neither is its code loaded nor does it listen for new events. */
const openWhenUsed = (options: PostgresChangeStreamOptions): ChangeStream => {
  const resources = new AsyncDisposableStack();
  const opened = whenAsked(async () => {
    const { openPostgresChangeStream } = await import(
      '#shared/change-stream/postgres/postgres-change-stream.ts'
    );
    return resources.disposed ? undefined : resources.use(openPostgresChangeStream(options));
  });
  return {
    async *follow(after, signal) {
      const stream = await opened();
      if (stream !== undefined) yield* stream.follow(after, signal);
    },
    head: async () => (await opened())?.head() ?? START,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
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
