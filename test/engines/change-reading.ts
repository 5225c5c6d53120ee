import { randomUUID } from 'node:crypto';
import { publishing } from '#domain/publishing.ts';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { type ChangeReader, createChangeReader } from '#shared/change-stream/changes.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { context } from '../codec-fixture.ts';
import { createPublishingDatabase } from './migrated-database.ts';

/** A log to which events are written directly, without commands, and readers of its changes. */
export type ChangeReading = AsyncDisposable & {
  readonly domain: Domain;
  readonly eventLog: EventLog;
  readonly pool: Pool;
  readonly keys: KeyStore;
  record(stream: StreamName, ...events: readonly AnnalsEvent[]): Promise<Position>;
  /** The events after one position and up to another. */
  events(after: Position, upTo: Position): Promise<readonly RecordedEvent[]>;
  /** A reader, and the streams that it has read, one by one. */
  createReader(options?: ReaderOptions): {
    readonly reader: ChangeReader;
    readonly reads: readonly StreamName[];
  };
};

type ReaderOptions = {
  readonly stepsMax?: number;
  /** Called during a read. */
  onTheWay?(): Promise<void>;
};

export const openChangeReading = async (): Promise<ChangeReading> => {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await createPublishingDatabase());
  const pool = opening.use(openPool({ url, applicationName: 'test', connectionsMax: 4 }));
  const eventLog = opening.use(await openEventLog({ url, clock: REAL_TIME }));
  const keys = opening.use(memoryKeyStore());
  const codec = createCodec({ keys, domain: publishing });
  const resources = opening.move();
  return {
    domain: publishing,
    eventLog,
    pool,
    keys,
    async record(stream, ...events) {
      const unencoded = events.map((event) => ({ id: randomUUID() as EventId, event }));
      return (await eventLog.append(stream, 'any', await codec.encodeAll(stream, context, unencoded)))
        .position;
    },
    async events(after, upTo) {
      const found: RecordedEvent[] = [];
      const leaving = new AbortController();
      for await (const page of eventLog.follow(after, leaving.signal)) {
        found.push(...page.filter(({ position }) => position <= upTo));
        if ((page.at(-1)?.position ?? 0) >= upTo) leaving.abort();
      }
      return found;
    },
    createReader({ stepsMax, onTheWay } = {}) {
      const reads: StreamName[] = [];
      const log: Pick<EventLog, 'read'> = {
        async *read(stream, from, to) {
          reads.push(stream);
          const pages = await Array.fromAsync(eventLog.read(stream, from, to));
          await onTheWay?.();
          yield* pages;
        },
      };
      return {
        reads,
        reader: createChangeReader({
          domain: publishing,
          eventLog: log,
          pool,
          keys,
          ...(stepsMax !== undefined && { stepsMax }),
        }),
      };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
