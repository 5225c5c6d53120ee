import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import { isDamage } from '#shared/visibility/damage.ts';

/** Decodes events in order, with undefined for a poison event. Throws if the keys are unavailable. */
export const decodeEach = async (
  codec: Pick<Codec, 'decodeAll'>,
  events: readonly RecordedEvent[],
): Promise<readonly (DecodedEvent | undefined)[]> => {
  try {
    return await codec.decodeAll(events);
  } catch (error) {
    if (!isDamage(error)) throw error;
    if (events.length === 1) return [undefined];
  }
  const middle = Math.ceil(events.length / 2);
  return [
    ...(await decodeEach(codec, events.slice(0, middle))),
    ...(await decodeEach(codec, events.slice(middle))),
  ];
};
