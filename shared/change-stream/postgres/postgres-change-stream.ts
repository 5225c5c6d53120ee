import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { isPassing } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import {
  openReadPosition,
  type ReadPosition,
  type ReadPositionOptions,
  readReached,
} from '#shared/read-model/read-position.ts';
import { whenAsked } from '#shared/when-asked.ts';
import type { ChangePage, ChangeStream } from '../change-stream.ts';
import type { ChangeReader } from '../changes.ts';
import { shareLatest } from '../share-latest.ts';
import { AheadReader } from './ahead-reader.ts';

export type PostgresChangeStreamOptions = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'identity' | 'read' | 'follow'>;
  /** Of the database with the read model. */
  readonly pool: Pool;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  /** Notified when the read model has moved on. */
  readonly notifier: ReadPositionOptions['notifier'];
  readonly clock: Clock;
};

/** Follows the event log itself, on any engine, as far as the read model in PostgreSQL has reached. */
export const openPostgresChangeStream = ({
  notifier,
  ...reading
}: PostgresChangeStreamOptions): ChangeStream => {
  const { eventLog, pool, clock } = reading;
  const reader = whenAsked(async () =>
    shareLatest((await import('../changes.ts')).createChangeReader(reading), clock),
  );
  const readPosition = openReadPosition({ pool, eventLog, notifier, clock });
  const closed = new AbortController();
  return {
    follow: (after, signal) =>
      follow({ eventLog, reader, readPosition, clock }, after, AbortSignal.any([signal, closed.signal])),
    head: async () => (await readReached(pool, eventLog)) ?? START,
    async [Symbol.asyncDispose]() {
      closed.abort();
      await readPosition[Symbol.asyncDispose]();
    },
  };
};

type Following = Pick<PostgresChangeStreamOptions, 'eventLog' | 'clock'> & {
  readonly reader: () => Promise<Pick<ChangeReader, 'toPage'>>;
  readonly readPosition: ReadPosition;
};

async function* follow(
  { eventLog, reader, readPosition, clock }: Following,
  after: Position,
  signal: AbortSignal,
): AsyncGenerator<ChangePage> {
  let last = after;
  // Parked aggregates are not known earlier.
  for await (const events of followReached({ eventLog, readPosition, clock }, after, signal)) {
    const page = await toPage({ reader, clock }, { events, after: last }, signal);
    if (signal.aborted || !page) return;
    yield page;
    last = page.upTo;
  }
}

type Passed = { readonly events: readonly RecordedEvent[]; readonly after: Position };

/** Waits for an unreachable database, as for the log itself. */
const toPage = async (
  { reader, clock }: Omit<Following, 'eventLog' | 'readPosition'>,
  { events, after }: Passed,
  signal: AbortSignal,
): Promise<ChangePage | undefined> => {
  while (!signal.aborted) {
    try {
      return await (await reader()).toPage(events, after);
    } catch (error) {
      if (!isPassing(error) && !(error instanceof LogUnavailable)) throw error;
      await clock.sleep(TRY_AGAIN_MS, signal);
    }
  }
  return undefined;
};

const TRY_AGAIN_MS = 500;

type FollowingReached = {
  readonly clock: Clock;
  readonly eventLog: Pick<EventLog, 'follow'>;
  readonly readPosition: Pick<ReadPosition, 'reaches' | 'reached'>;
};

/**
 * Follows the log as far as the read model has reached. Reads ahead while it waits for the first of the
 * events already read, and yields each event once it is reached itself, however many were read after it.
 */
async function* followReached(
  { eventLog, readPosition, clock }: FollowingReached,
  after: Position,
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  const leaving = new AbortController();
  const left = AbortSignal.any([signal, leaving.signal]);
  const reader = new AheadReader(eventLog.follow(after, left));
  try {
    for (
      let [first] = await reader.some();
      first !== undefined && !signal.aborted;
      [first] = await reader.some()
    ) {
      if (first.position > readPosition.reached) {
        const waiting = waitFor({ readPosition, clock }, first.position, left);
        // While the position of the read model is unknown, it may well be further on.
        await (readPosition.reached === START ? waiting : reader.readUntil(waiting));
      }
      if (signal.aborted) return;
      yield reader.take(readPosition.reached);
    }
  } finally {
    leaving.abort();
    await reader.close();
  }
}

/** The projector may be down for any time; the caller keeps waiting. */
const waitFor = async (
  { readPosition, clock }: Pick<FollowingReached, 'readPosition' | 'clock'>,
  position: Position,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted && !(await readPosition.reaches(position, WAIT_MAX_MS, signal)))
    await clock.sleep(TRY_AGAIN_MS, signal);
};

const WAIT_MAX_MS = 30_000;
