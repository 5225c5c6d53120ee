import { LRUCache } from 'lru-cache';
import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import type { Moment } from '#kernel/decide/timers.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { type EventLog, FIRST } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import { weigh } from '#shared/weigh.ts';

/** An event with the state after it. */
type Remembered = Moment & { readonly metadata: MetadataContext; readonly position: Position };

type Dependencies = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly codec: Pick<Codec, 'decodeAll'>;
};

type History = {
  readonly moments: readonly Remembered[];
  readonly version: Version | undefined;
  readonly weight: number;
};

const WEIGHT_MAX = 16 * 1_048_576;
/** Then it is read as a whole again, because persons in it may have been erased. */
const KEPT_MS = 60_000;

/**
 * The whole history of an aggregate. A history that was read a moment ago is only continued: each event of an
 * aggregate with timers asks for it.
 */
export const createHistories = ({
  domain,
  eventLog,
  codec,
}: Dependencies): ((kind: Kind, stream: StreamName) => Promise<readonly Remembered[]>) => {
  const cache = new LRUCache<StreamName, History>({
    maxSize: WEIGHT_MAX,
    maxEntrySize: WEIGHT_MAX,
    sizeCalculation: ({ weight }) => weight,
    ttl: KEPT_MS,
    noUpdateTTL: true,
  });
  /** Undefined if the log no longer has the last known event. */
  const readOn = async (kind: Kind, stream: StreamName, known: History): Promise<History | undefined> => {
    const { evolve } = deciderOf(domain, kind);
    const moments = [...known.moments];
    let { version, weight } = known;
    let state: AggregateState = moments.at(-1)?.state ?? ABSENT;
    let isThere = version === undefined;
    for await (const page of eventLog.read(stream, version ?? FIRST)) {
      if (!isThere && page[0]?.id !== moments.at(-1)?.id) return undefined;
      const fresh = isThere ? page : page.slice(1);
      isThere = true;
      for (const event of await codec.decodeAll(fresh)) {
        const { metadata, position } = event;
        state = evolve(state, event);
        moments.push({
          id: event.id as EventId,
          type: event.type,
          atMs: Date.parse(metadata.at),
          state,
          metadata,
          position,
        });
        version = event.version;
        weight += weigh(event.data);
      }
    }
    return isThere ? { moments, version, weight } : undefined;
  };
  return async (kind, stream) => {
    const known = cache.get(stream);
    const found =
      (known && (await readOn(kind, stream, known))) ?? (await readOn(kind, stream, NOTHING)) ?? NOTHING;
    if (found.version !== undefined) cache.set(stream, found);
    return found.moments;
  };
};

const NOTHING: History = { moments: [], version: undefined, weight: 1 };
