import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { AppendTooLarge, InvalidAppend, TooManyEvents } from './errors.ts';
import {
  APPEND_BYTES_MAX,
  APPEND_EVENTS_MAX,
  type ExpectedVersion,
  METADATA_BYTES_MAX,
  type NewEvent,
} from './event-log.ts';

/** An event as it goes to an engine: checked, and converted to JSON once. */
export type CheckedEvent = {
  readonly id: EventId;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  readonly dataBytes: number;
  readonly metadataBytes: number;
  readonly bytes: number;
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const STREAM = /^[a-z][A-Za-z0-9-]*-[A-Za-z0-9_.-]{1,200}$/;
const TYPE = /^[a-z][A-Za-z0-9_.]{0,99}$/;

/**
 * Refuses events that an engine could not store before anything is sent: EventStoreDB answers a malformed
 * append in a way that kills its client’s process, and the engines’ limits differ.
 */
export const checkAppend = (
  stream: StreamName,
  expected: ExpectedVersion,
  events: readonly NewEvent[],
): readonly CheckedEvent[] => {
  // A negative number means any version to the engines.
  if (expected !== 'any' && !(Number.isSafeInteger(expected) && expected >= 0)) {
    throw new InvalidAppend(`${expected} is not a version that an append can expect`);
  }
  if (!STREAM.test(stream))
    throw new InvalidAppend(`the stream name ${JSON.stringify(stream)} is not of the form kind-id`);
  if (events.length === 0) throw new InvalidAppend(`an append to ${stream} has no events`);
  if (events.length > APPEND_EVENTS_MAX)
    throw new TooManyEvents(`an append to ${stream}`, events.length, APPEND_EVENTS_MAX);
  const checked = events.map(checkEvent);
  if (checked.length > 1 && new Set(checked.map(({ id }) => id)).size !== checked.length)
    throw new InvalidAppend(`an append to ${stream} has the same event id twice`);
  const bytes = checked.reduce((sum, { dataBytes }) => sum + dataBytes, 0);
  if (bytes > APPEND_BYTES_MAX)
    throw new AppendTooLarge(`the data of an append to ${stream}`, bytes, APPEND_BYTES_MAX);
  return checked;
};

type Part = readonly [stream: StreamName, expected: ExpectedVersion, events: readonly NewEvent[]];

/** The parts of an append to several streams, which together have the limits of one append. */
export const checkParts = (parts: readonly Part[]): readonly (readonly CheckedEvent[])[] => {
  const [own] = parts;
  const checked = parts.map((part) => checkAppend(...part));
  if (own !== undefined && parts.length > 1) {
    if (new Set(parts.map(([stream]) => stream)).size < parts.length)
      throw new InvalidAppend(`an append to ${own[0]} names a stream twice`);
    checkAppend(
      own[0],
      own[1],
      parts.flatMap(([, , events]) => events),
    );
  }
  return checked;
};

export const checkEvent = (event: NewEvent): CheckedEvent => {
  if (!UUID.test(event.id))
    throw new InvalidAppend(`the event id ${JSON.stringify(event.id)} is not a UUID in lower case`);
  if (!TYPE.test(event.type))
    throw new InvalidAppend(`the event type ${JSON.stringify(event.type)} is not of the form thing.happened`);
  const data = JSON.stringify(event.data);
  const metadata = JSON.stringify(event.metadata);
  const metadataBytes = Buffer.byteLength(metadata);
  if (metadataBytes > METADATA_BYTES_MAX)
    throw new AppendTooLarge(`the metadata of ${event.type}`, metadataBytes, METADATA_BYTES_MAX);
  const dataBytes = Buffer.byteLength(data);
  return {
    id: event.id,
    type: event.type,
    data,
    metadata,
    dataBytes,
    metadataBytes,
    bytes: dataBytes + metadataBytes,
  };
};
