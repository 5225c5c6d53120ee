import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { type Decoded, decodeAround } from './decode.ts';

/** The events of a batch that belong in the read model, decoded: all work that needs no read model. */
export type Prepared = Decoded & { readonly own: readonly RecordedEvent[] };

/** The dependencies of projecting: a codec, and the tables. */
export type Projection = { readonly codec: Codec; readonly tables: Tables };

export const prepare = async (
  { codec, tables }: Projection,
  events: readonly RecordedEvent[],
): Promise<Prepared> => {
  const own = events.filter(tables.isProjected);
  return { own, ...(await decodeAround(codec, own)) };
};

/** Joins several batches, in order. */
export const joined = (batches: readonly Prepared[]): Prepared => ({
  own: batches.flatMap(({ own }) => own),
  decoded: batches.flatMap(({ decoded }) => decoded),
  damaged: batches.flatMap(({ damaged }) => damaged),
});

export const partOf = (
  { own, decoded, damaged }: Prepared,
  isIn: (event: EventPosition) => boolean,
): Prepared => ({
  own: own.filter(isIn),
  decoded: decoded.filter(isIn),
  damaged: damaged.filter(isIn),
});

type EventPosition = { readonly stream: StreamName; readonly position: Position };
