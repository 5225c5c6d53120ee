import type { CheckedEvent } from '#shared/event-log/check-append.ts';
import { type ExpectedVersion, NO_STREAM } from '#shared/event-log/event-log.ts';

export type AppendRequest = {
  /** A UUID, which the response repeats. */
  readonly id: string;
  readonly stream: string;
  readonly expected: ExpectedVersion;
  readonly events: readonly CheckedEvent[];
  /** The server refuses the append if it has not begun it by then. */
  readonly deadlineMs: number;
};

/** A server accepts messages of 4 MiB. */
const MESSAGE_BYTES_MAX = 3 * 1_048_576;

/**
 * An append as messages of the type `BatchAppendReq` in EventStoreDB’s `streams.proto`. The classes of the
 * client would convert each event to JSON, Base64 and bytes twice.
 */
export const encodeAppend = ({ events, ...request }: AppendRequest): readonly Buffer[] => {
  const messages: Buffer[] = [];
  let from = 0;
  while (from < events.length) {
    let to = from;
    let eventsBytes = 0;
    while (to < events.length) {
      const bytes = bytesOfField(bytesOfEvent(events[to] as CheckedEvent));
      if (to > from && eventsBytes + bytes > MESSAGE_BYTES_MAX) break;
      eventsBytes += bytes;
      to += 1;
    }
    messages.push(
      encodePart(request, events.slice(from, to), {
        eventsBytes,
        isFirst: from === 0,
        isFinal: to === events.length,
      }),
    );
    from = to;
  }
  return messages;
};

type Part = { readonly eventsBytes: number; readonly isFirst: boolean; readonly isFinal: boolean };

const encodePart = (
  { id, ...options }: Omit<AppendRequest, 'events'>,
  events: readonly CheckedEvent[],
  { eventsBytes, isFirst, isFinal }: Part,
): Buffer => {
  const message = new Message(
    bytesOfField(UUID_BYTES) + HEAD_BYTES_MAX + options.stream.length + eventsBytes,
  );
  writeUuid(message, 1, id);
  if (isFirst) writeOptions(message, options);
  for (const event of events) writeEvent(message, event);
  if (isFinal) message.number(4, 1);
  return message.written();
};

/** The size of a message beside its id, the name of the stream and the events. */
const HEAD_BYTES_MAX = 64;

const writeOptions = (
  message: Message,
  { stream, expected, deadlineMs }: Omit<AppendRequest, 'id' | 'events'>,
): void => {
  const nameBytes = bytesOfField(stream.length);
  const seconds = Math.floor(deadlineMs / 1_000);
  const nanos = (Math.floor(deadlineMs) % 1_000) * 1_000_000;
  const deadlineBytes = bytesOfNumber(seconds) + bytesOfNumber(nanos);
  const revision = typeof expected === 'number' && expected !== NO_STREAM ? expected - 1 : undefined;
  const expectedBytes = revision === undefined ? bytesOfField(0) : bytesOfNumber(revision);
  message.begin(2, bytesOfField(nameBytes) + expectedBytes + bytesOfField(deadlineBytes));
  message.begin(1, nameBytes);
  message.ascii(3, stream);
  if (revision !== undefined) message.number(2, revision);
  else message.begin(expected === 'any' ? 4 : 3, 0);
  message.begin(6, deadlineBytes);
  message.number(1, seconds);
  message.number(2, nanos);
};

const bytesOfEvent = ({ type, dataBytes, metadataBytes }: CheckedEvent): number =>
  bytesOfField(UUID_BYTES) +
  bytesOfField(bytesOfProperty('type', type)) +
  bytesOfField(bytesOfProperty(...CONTENT_TYPE)) +
  bytesOfField(metadataBytes) +
  bytesOfField(dataBytes);

const writeEvent = (message: Message, event: CheckedEvent): void => {
  message.begin(3, bytesOfEvent(event));
  writeUuid(message, 1, event.id);
  writeProperty(message, 'type', event.type);
  writeProperty(message, ...CONTENT_TYPE);
  message.text(3, event.metadata, event.metadataBytes);
  message.text(4, event.data, event.dataBytes);
};

const CONTENT_TYPE = ['content-type', 'application/json'] as const;

const bytesOfProperty = (name: string, value: string): number =>
  bytesOfField(name.length) + bytesOfField(value.length);

const writeProperty = (message: Message, name: string, value: string): void => {
  message.begin(2, bytesOfProperty(name, value));
  message.ascii(1, name);
  message.ascii(2, value);
};

/** A UUID of 36 characters as a field of its message. */
const UUID_BYTES = 38;

const writeUuid = (message: Message, field: number, uuid: string): void => {
  message.begin(field, UUID_BYTES);
  message.ascii(2, uuid);
};

const bytesOfField = (length: number): number => 1 + bytesOfVarint(length) + length;
const bytesOfNumber = (value: number): number => 1 + bytesOfVarint(value);

const bytesOfVarint = (value: number): number => {
  let bytes = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) bytes += 1;
  return bytes;
};

const LENGTH_DELIMITED = 2;

/** Fields of Protocol Buffers, one after the other. The length of a nested message precedes it. */
class Message {
  readonly #bytes: Buffer;
  #end = 0;

  constructor(bytesMax: number) {
    this.#bytes = Buffer.allocUnsafe(bytesMax);
  }

  written(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  /** A field of `length` bytes, which are written next. */
  begin(field: number, length: number): void {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    this.#varint(length);
  }

  number(field: number, value: number): void {
    this.#varint(field * 8);
    this.#varint(value);
  }

  ascii(field: number, text: string): void {
    this.begin(field, text.length);
    this.#end += this.#bytes.write(text, this.#end, 'latin1');
  }

  text(field: number, text: string, bytes: number): void {
    this.begin(field, bytes);
    this.#end += this.#bytes.write(text, this.#end, 'utf8');
  }

  #varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) {
      this.#bytes[this.#end] = (rest % 128) + 128;
      this.#end += 1;
    }
    this.#bytes[this.#end] = rest;
    this.#end += 1;
  }
}
