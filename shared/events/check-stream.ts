import { hash } from 'node:crypto';
import type { StreamName } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';

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
    key === null
      ? stream.startsWith(streamName(kind, ''))
      : stream === streamName(kind, String(data[key])) || stream === keyedStream(kind, String(data[key]));
  if (!isAtHome) throw new RangeError(`it does not belong on ${stream}`);
};

/** As the log allows it. */
const STREAM_KEY = /^[A-Za-z0-9_.-]{1,200}$/;

/** The stream of a key that may be any text: the id of a client may be an address. */
export const keyedStream = (kind: string, key: string): StreamName =>
  streamName(kind, STREAM_KEY.test(key) ? key : hash('sha256', key, 'base64url'));
