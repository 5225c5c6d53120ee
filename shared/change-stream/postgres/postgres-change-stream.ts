import { setTimeout as delay } from 'node:timers/promises';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Position } from '#shared/brands.ts';
import { isPassing } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Doorbell } from '#shared/doorbell.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { openReadPosition, type ReadPosition, readReached } from '#shared/read-model/read-position.ts';
import type { ChangePage, ChangeStream } from '../change-stream.ts';
import { type ChangeReader, createChangeReader } from '../changes.ts';
import { followReached } from './follow-reached.ts';

export type PostgresChangeStreamOptions = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'identity' | 'read' | 'follow'>;
  /** Of the database with the read model. */
  readonly pool: Pool;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  /** Rung when the read model has moved on. */
  readonly bell: Doorbell;
};

/** Follows the event log itself, whichever engine that is, as far as the read model in PostgreSQL has reached. */
export const openPostgresChangeStream = ({ domain, eventLog, pool, keys, bell }: PostgresChangeStreamOptions): ChangeStream => {
  const reader = createChangeReader({ domain, eventLog, pool, keys });
  const readPosition = openReadPosition({ pool, eventLog, bell });
  const closed = new AbortController();
  return {
    follow: (after, signal) => follow({ eventLog, reader, readPosition }, after, AbortSignal.any([signal, closed.signal])),
    head: async () => (await readReached(pool, eventLog)) ?? START,
    async [Symbol.asyncDispose]() {
      closed.abort();
      await readPosition[Symbol.asyncDispose]();
    },
  };
};

type Following = Pick<PostgresChangeStreamOptions, 'eventLog'> & { readonly reader: ChangeReader; readonly readPosition: ReadPosition };

async function* follow({ eventLog, reader, readPosition }: Following, after: Position, signal: AbortSignal): AsyncGenerator<ChangePage> {
  let last = after;
  // What is parked is known no earlier.
  for await (const events of followReached({ eventLog, readPosition }, after, signal)) {
    const page = await toPage(reader, { events, after: last }, signal);
    if (signal.aborted || !page) return;
    yield page;
    last = page.upTo;
  }
}

type Passed = { readonly events: readonly RecordedEvent[]; readonly after: Position };

/** A database that is away is waited for, as the log itself is. */
const toPage = async (reader: ChangeReader, { events, after }: Passed, signal: AbortSignal): Promise<ChangePage | undefined> => {
  while (!signal.aborted) {
    try {
      return await reader.toPage(events, after);
    } catch (error) {
      if (!isPassing(error) && !(error instanceof LogUnavailable)) throw error;
      await pause(signal);
    }
  }
  return undefined;
};

const TRY_AGAIN_MS = 500;

const pause = (signal: AbortSignal): Promise<void> => delay(TRY_AGAIN_MS, undefined, { signal }).catch(() => {});
