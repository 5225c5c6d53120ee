import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { untilDisposed } from '#shared/clock/repeat.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { StreamCut } from '#shared/event-log/errors.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { findCut } from '#shared/event-log/find-cut.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Log } from '#shared/log.ts';
import { parkCut } from '#shared/projection/park-cut.ts';
import type { Mending } from '#shared/projection/retry.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly keys: KeyStore;
  readonly log: Log;
  readonly clock: Clock;
};

/** The results of all looks so far; a failed look changes nothing. */
type Known = {
  /** The log was read up to here. */
  upTo: Position;
  /** In the order of their last look. */
  readonly cuttable: Set<StreamName>;
};

type Looking = Mending &
  Pick<Dependencies, 'log' | 'clock'> & {
    readonly cutStreams: NonNullable<EventLog['cutStreams']>;
    readonly known: Known;
  };

export const LOOK_EVERY_MS = 10_000;
/** A limit of age cuts a stream later, so that it is read again and again. */
const READ_AT_ONCE_MAX = 200;

/**
 * Parks aggregates whose streams an operator has cut or deleted in the engine, in one process at a time. No
 * event says that, so that nobody else would notice before a read of the history.
 */
export const startParkingCutStreams = async (dependencies: Dependencies): Promise<AsyncDisposable> => {
  const { domain, pool, eventLog, keys, log, clock } = dependencies;
  const { cutStreams } = eventLog;
  // PostgreSQL refuses to change or delete events.
  if (cutStreams === undefined) return { [Symbol.asyncDispose]: async () => {} };
  await migrateLeases(pool);
  const looking: Looking = {
    ...{ pool, eventLog, codec: createCodec({ keys, domain }), tables: tablesOf(domain) },
    ...{ log, clock, cutStreams },
    known: { upTo: START, cuttable: new Set() },
  };
  const onFailure = (err: unknown) =>
    log.warn({ err }, 'Streams that were cut in the event log could not be looked for; this is retried.');
  return untilDisposed((stopping) =>
    runUnderLease(
      { pool, name: 'cut-streams', clock, onFailure },
      ({ signal }) => look(looking, signal),
      stopping,
    ),
  );
};

/** Reads the whole log once, and afterwards only what is new. */
const look = async (looking: Looking, signal: AbortSignal): Promise<void> => {
  const { cutStreams, tables, clock, known } = looking;
  for (; !signal.aborted; await clock.sleep(LOOK_EVERY_MS, signal)) {
    const { streams, upTo } = await cutStreams(known.upTo);
    for (const stream of streams) if (tables.isProjected({ stream })) known.cuttable.add(stream);
    known.upTo = upTo;
    await parkSome(looking);
  }
};

const parkSome = async (looking: Looking): Promise<void> => {
  const { cuttable } = looking.known;
  const some = [...cuttable].slice(0, READ_AT_ONCE_MAX);
  const parked = await selectParked(looking, some);
  const cuts: StreamCut[] = [];
  try {
    for (const stream of some) {
      cuttable.delete(stream);
      cuttable.add(stream);
      const cut = parked.has(stream) ? undefined : await findCut(looking.eventLog, stream);
      if (cut) cuts.push(cut);
    }
  } finally {
    // A stream that cannot be read does not keep the others from being parked.
    await parkAll(looking, cuts);
  }
};

const parkAll = async (looking: Looking, cuts: readonly StreamCut[]): Promise<void> => {
  if (cuts.length === 0) return;
  for (const { stream, reason } of await parkCut(looking, cuts))
    looking.log.error({ stream, reason }, 'A stream was cut in the event log; its aggregate is parked.');
};

const selectParked = async (
  { pool }: Pick<Looking, 'pool'>,
  streams: readonly StreamName[],
): Promise<ReadonlySet<StreamName>> => {
  if (streams.length === 0) return new Set();
  const { rows } = await pool.query<{ stream: StreamName }>(
    `select stream from ${LIVE_SCHEMA}.parked where stream = any($1)`,
    [streams],
  );
  return new Set(rows.map(({ stream }) => stream));
};
