import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import { undecodable } from './refused.ts';

export type Decoded = {
  readonly decoded: readonly DecodedEvent[];
  /** The damaged events, in order. */
  readonly damaged: readonly Parked[];
};

/**
 * Decodes all events at once; after a failure, bisects them down to the damaged ones, and decodes the others.
 */
export const decodeAround = async (codec: Codec, events: readonly RecordedEvent[]): Promise<Decoded> => {
  const [first, second] = events;
  if (!first) return { decoded: [], damaged: [] };
  try {
    return { decoded: await codec.decodeAll(events), damaged: [] };
  } catch (error) {
    const damage = undecodable(first, error);
    if (!second) return { decoded: [], damaged: [damage] };
  }
  const middle = Math.ceil(events.length / 2);
  const left = await decodeAround(codec, events.slice(0, middle));
  const right = await decodeAround(codec, events.slice(middle));
  return { decoded: [...left.decoded, ...right.decoded], damaged: [...left.damaged, ...right.damaged] };
};
