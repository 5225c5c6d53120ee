/** The server’s limit of one event, which the client does not know; it counts type, data and metadata. */
export class EventTooLarge extends Error {
  readonly type = 'maximum-append-event-size-exceeded';
  readonly bytes: number;
  readonly bytesMax: number;

  constructor(bytes: number, bytesMax: number) {
    super(`an event of ${bytes} bytes exceeds the limit of ${bytesMax}`);
    this.bytes = bytes;
    this.bytesMax = bytesMax;
  }
}

/** The server, or a proxy before it, takes no message of this size. It does not say how many bytes it takes. */
export class MessageTooLarge extends Error {
  readonly type = 'message-too-large';
  readonly bytes: number;

  constructor(bytes: number, options: ErrorOptions) {
    super(`a message of ${bytes} bytes exceeds the limit`, options);
    this.bytes = bytes;
  }
}

export const EVENT_TOO_LARGE = 'event_store.client.MaximumAppendEventSizeExceeded';

const [BYTES, BYTES_MAX] = [2, 3];
const LENGTH_DELIMITED = 2;

/** Reads the details of the type `EVENT_TOO_LARGE`. */
export const eventTooLargeIn = (details: Uint8Array): EventTooLarge => {
  const numbers = new Map<number, number>();
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = details[at] ?? 0;
      at += 1;
      value += (byte % 0x80) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < details.length) {
    const tag = next();
    const value = next();
    if (tag % 8 === LENGTH_DELIMITED) at += value;
    else numbers.set(Math.floor(tag / 8), value);
  }
  return new EventTooLarge(numbers.get(BYTES) ?? 0, numbers.get(BYTES_MAX) ?? 0);
};

const WORDS = /message (exceeds the maximum configured message size|larger than max)/i;
const RESOURCE_EXHAUSTED = 8;

/** Whether a call failed because of the size of a message. */
export const isMessageTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === RESOURCE_EXHAUSTED && WORDS.test(error.message);
