import type { StreamName } from '#shared/brands.ts';
import type { JsonObject } from '#shared/json.ts';
import type { EventDefinition } from './define-event.ts';
import { streamName } from './streams.ts';

/**
 * An event is valid only on the stream of its own aggregate, so that no recorded event can be moved to
 * another.
 */
export const checkStream = (
  { stream: { kind, key } }: EventDefinition,
  stream: StreamName,
  data: JsonObject,
): void => {
  const isAtHome =
    key === null ? stream.startsWith(streamName(kind, '')) : stream === streamName(kind, String(data[key]));
  if (!isAtHome) throw new RangeError(`it does not belong on ${stream}`);
};
