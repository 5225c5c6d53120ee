import type { Domain } from '#kernel/registry/registry.ts';
import { timeOf } from '#shared/audit/position-at.ts';
import type { Position, StreamName } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { decodeClear } from '#shared/events/decode-clear.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';
import { ArticleHistories } from './article-histories.ts';
import type { Change, ChangePage } from './change-stream.ts';
import { findCircumstances, type Seen, tell } from './circumstances.ts';
import { createRenamingFinder } from './renamings.ts';
import { isPublic, rightToDamaged } from './who-may-know.ts';

/** Makes changes of events. */
export type ChangeReader = {
  /**
   * The changes that consecutive events of the log come to, of which there is at least one. Told which position they follow on,
   * the reader need not look again for what it has seen pass by.
   */
  toPage(events: readonly RecordedEvent[], after?: Position): Promise<ChangePage>;
};

export type ChangeReaderOptions = {
  readonly eventLog: Pick<EventLog, 'read'>;
  /** Of the database with the read model, which says what is parked. */
  readonly pool: Pick<Pool, 'query'>;
  /** Only to find out whether a sealed name was changed, because who may know depends on that. */
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly domain: Domain;
  /** How much is kept of what articles were when. */
  readonly stepsMax?: number;
};

export const createChangeReader = ({ eventLog, pool, keys, domain, stepsMax }: ChangeReaderOptions): ChangeReader => {
  const catalogue = catalogueOf(domain);
  const histories = new ArticleHistories(eventLog, stepsMax);
  const findRenamings = createRenamingFinder({ keys, domain });
  return {
    async toPage(events, after) {
      const [first, last] = [events.at(0), events.at(-1)];
      if (!first || !last) throw new RangeError('A page of changes is made of at least one event');
      const span = { after: after ?? ((first.position - 1) as Position), upTo: last.position };
      const seen = events.filter(isPublic).map((event): Seen => ({ event, clear: decodeClear(catalogue, event) }));
      const [circumstances, parkedSince] = await Promise.all([
        findCircumstances({ histories, findRenamings }, seen, span),
        readParked(pool, new Set(seen.map(({ event }) => event.stream))),
      ]);
      const changes = seen.map(({ event, clear }): Change => {
        const { position, id, stream, version } = event;
        const trace = traceOf(event);
        const place = { position, id, stream, version, ...(trace !== undefined && { trace }) };
        if (!clear) return { ...place, ...tellDamaged(event) };
        const isParked = (parkedSince.get(stream) ?? Number.POSITIVE_INFINITY) <= position;
        return { ...place, ...clear, ...tell(event, clear, circumstances), isParked };
      });
      return { changes, upTo: last.position, event: last.id };
    },
  };
};

/** That something has happened, for those who can do something about it. */
const tellDamaged = (event: RecordedEvent): Omit<Change, 'position' | 'id' | 'stream' | 'version'> => ({
  type: event.type,
  schemaVersion: typeof event.metadata.version === 'number' ? event.metadata.version : 1,
  at: (timeOf(event) ?? event.recordedAt).toISOString(),
  origin: null,
  data: {},
  right: rightToDamaged(event.stream),
  resource: {},
  isParked: true,
});

/** Since which position streams are out of the read model; the table is nearly always empty. */
const readParked = async (pool: Pick<Pool, 'query'>, streams: ReadonlySet<StreamName>): Promise<ReadonlyMap<StreamName, number>> => {
  if (streams.size === 0) return new Map();
  const { rows } = await pool.query<{ stream: StreamName; position: number }>(
    `select stream, position from ${LIVE_SCHEMA}.parked where stream = any($1)`,
    [[...streams]],
  );
  return new Map(rows.map(({ stream, position }) => [stream, position]));
};
