import type { NewEvent } from './records.ts';

export type ServerVersion = '23.10.6' | '26.0.3';

export const SERVER_VERSIONS: readonly ServerVersion[] = ['26.0.3', '23.10.6'];

/** A version of the server, as its clients see it. */
export type Product = {
  readonly version: ServerVersion;
  /** The maximum of the events of one append, in sum. */
  readonly appendBytesMax: number;
  readonly eventBytesMax: number;
  /** The maximum of one message of a client. */
  readonly messageBytesMax: number;
  /** The part of an event that counts. */
  bytesOf(event: NewEvent): number;
  /** The server compresses each message to clients that accept it. */
  readonly compresses: boolean;
  /** Refused reads say why. */
  readonly saysWhy: boolean;
};

const MIB = 1_048_576;
const WITHOUT_LIMIT = Number.POSITIVE_INFINITY;

const PRODUCTS: Readonly<Record<ServerVersion, Product>> = {
  '23.10.6': {
    version: '23.10.6',
    appendBytesMax: MIB,
    eventBytesMax: WITHOUT_LIMIT,
    messageBytesMax: 17 * MIB,
    bytesOf: ({ data }) => data.length,
    compresses: false,
    saysWhy: false,
  },
  '26.0.3': {
    version: '26.0.3',
    appendBytesMax: 256 * MIB,
    eventBytesMax: 16 * MIB,
    messageBytesMax: 16 * MIB - 10_000,
    // The server counts two bytes for each letter of the type.
    bytesOf: ({ type, data, metadata }) => data.length + metadata.length + 2 * type.length,
    compresses: true,
    saysWhy: true,
  },
};

/** Settings of the server. */
export type ProductOptions = {
  readonly version?: ServerVersion | undefined;
  readonly appendBytesMax?: number | undefined;
  readonly eventBytesMax?: number | undefined;
  /** Also a proxy before the server may have a lower limit. */
  readonly messageBytesMax?: number | undefined;
};

export const productOf = ({ version = '26.0.3', ...limits }: ProductOptions): Product => {
  const product = PRODUCTS[version];
  return {
    ...product,
    appendBytesMax: limits.appendBytesMax ?? product.appendBytesMax,
    eventBytesMax: limits.eventBytesMax ?? product.eventBytesMax,
    messageBytesMax: limits.messageBytesMax ?? product.messageBytesMax,
  };
};

/** The limit that an append exceeds. */
export type Excess =
  | { readonly of: 'append'; readonly bytesMax: number }
  | { readonly of: 'event'; readonly id: string; readonly bytes: number; readonly bytesMax: number };

export const excessOf = (product: Product, events: readonly NewEvent[]): Excess | undefined => {
  const { appendBytesMax, eventBytesMax, bytesOf } = product;
  let sum = 0;
  for (const event of events) {
    const bytes = bytesOf(event);
    if (bytes > eventBytesMax) return { of: 'event', id: event.id, bytes, bytesMax: eventBytesMax };
    sum += bytes;
    if (sum > appendBytesMax) return { of: 'append', bytesMax: appendBytesMax };
  }
  return undefined;
};
