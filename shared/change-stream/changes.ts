import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { watchesOf } from '#kernel/visibility/watches.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { decodeClear } from '#shared/events/decode-clear.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';
import { createOpenedFinder } from '#shared/visibility/changed-fields.ts';
import { prepareVisibility } from '#shared/visibility/event-visibility.ts';
import { isPublic, rightToDamaged } from '#shared/visibility/may-see.ts';
import { Histories } from '../visibility/histories.ts';
import type { Seen } from '../visibility/history.ts';
import type { Change, ChangePage } from './change-stream.ts';

/** Converts events to changes. */
export type ChangeReader = {
  /**
   * Converts consecutive events of the log, at least one. Given the position before them, the reader uses the
   * states that it has seen pass by instead of reading again. Reads the missing ones from the given log, if
   * reads are charged to a request.
   */
  toPage(
    events: readonly RecordedEvent[],
    after?: Position,
    eventLog?: Pick<EventLog, 'read'>,
  ): Promise<ChangePage>;
  /**
   * Converts events of one stream, whatever happened in others in between. Reads the missing states from the
   * given log.
   */
  ofStream(events: readonly RecordedEvent[], eventLog: Pick<EventLog, 'read'>): Promise<ChangePage>;
};

export type ChangeReaderOptions = {
  readonly eventLog: Pick<EventLog, 'read'>;
  /** Of the database with the read model, which knows the parked aggregates. */
  readonly pool: Pick<Pool, 'query'>;
  /** Only to find out which sealed fields were changed, if the visibility depends on that. */
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly domain: Domain;
  /** The size of the cache of past states. */
  readonly stepsMax?: number;
  /** Long streams are read from here. */
  readonly snapshots?: Snapshots | undefined;
};

export const createChangeReader = ({
  eventLog,
  pool,
  keys,
  domain,
  stepsMax,
  snapshots,
}: ChangeReaderOptions): ChangeReader => {
  const catalogue = catalogueOf(domain);
  const histories = new Histories({ eventLog, catalogue, watches: watchesOf(domain), stepsMax, snapshots });
  const findOpened = createOpenedFinder({ keys, domain });
  const see = (event: RecordedEvent): Seen => ({ event, clear: decodeClear(catalogue, event) });
  const changesOf = async (
    seen: readonly Seen[],
    last: RecordedEvent,
    from?: Pick<EventLog, 'read'>,
  ): Promise<ChangePage> => {
    const [visibilityAt, parkedSince] = await Promise.all([
      prepareVisibility({ domain, histories, findOpened, eventLog: from }, seen),
      readParked(pool, new Set(seen.map(({ event }) => event.stream))),
    ]);
    const changes = seen.map(({ event, clear }): Change => {
      const { position, id, stream, version } = event;
      const trace = traceOf(event);
      const known = { position, id, stream, version, ...(trace !== undefined && { trace }) };
      if (!clear) return { ...known, ...damagedChange(domain, event) };
      const isParked = (parkedSince.get(stream) ?? Number.POSITIVE_INFINITY) <= position;
      return { ...known, ...clear, ...visibilityAt({ event, clear }), isParked };
    });
    return { changes, upTo: last.position, event: last.id };
  };
  return {
    async toPage(events, after, from) {
      const [first, last] = endsOf(events);
      const span = { after: after ?? ((first.position - 1) as Position), upTo: last.position };
      const [seen, inside]: [Seen[], Seen[]] = [[], []];
      for (const event of events) {
        if (isPublic(domain, event)) seen.push(see(event));
        else if (histories.follows(event.stream)) inside.push(see(event));
      }
      await histories.take(inside.length === 0 ? seen : inOrder([...seen, ...inside]), span);
      return changesOf(seen, last, from);
    },
    async ofStream(events, from) {
      const [, last] = endsOf(events);
      return changesOf(events.filter((event) => isPublic(domain, event)).map(see), last, from);
    },
  };
};

const endsOf = (events: readonly RecordedEvent[]): readonly [first: RecordedEvent, last: RecordedEvent] => {
  const [first, last] = [events.at(0), events.at(-1)];
  if (!first || !last) throw new RangeError('A page of changes is made of at least one event');
  return [first, last];
};

const inOrder = (seen: readonly Seen[]): readonly Seen[] =>
  seen.toSorted((one, other) => one.event.position - other.event.position);

/** Reports that an event is damaged, to those who can repair it. */
const damagedChange = (
  domain: Domain,
  event: RecordedEvent,
): Omit<Change, 'position' | 'id' | 'stream' | 'version'> => ({
  type: event.type,
  schemaVersion: typeof event.metadata.version === 'number' ? event.metadata.version : 1,
  at: (timeOf(event) ?? event.recordedAt).toISOString(),
  origin: null,
  data: {},
  right: rightToDamaged(domain, event.stream),
  resource: {},
  isParked: true,
});

/** The positions since which streams are out of the read model; the table is nearly always empty. */
const readParked = async (
  pool: Pick<Pool, 'query'>,
  streams: ReadonlySet<StreamName>,
): Promise<ReadonlyMap<StreamName, number>> => {
  if (streams.size === 0) return new Map();
  const { rows } = await pool.query<{ stream: StreamName; position: number }>(
    `select stream, position from ${LIVE_SCHEMA}.parked where stream = any($1)`,
    [[...streams]],
  );
  return new Map(rows.map(({ stream, position }) => [stream, position]));
};
