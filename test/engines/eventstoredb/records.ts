/**
 * The records of the log. Positions are byte-like offsets as in the real log, far below 2^53, so a number can
 * hold them.
 */

export type NewEvent = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
};

/**
 * An append without events leaves an `empty` record: it takes space in the log and is never read. Scavenged records
 * take none: no record begins there any more.
 */
export type LogRecord = NewEvent & {
  readonly kind: 'event' | 'tombstone' | 'empty' | 'scavenged';
  readonly position: number;
  /** Where the transaction of its append ended, if that was an explicit one of the former TCP protocol. */
  readonly commit?: number;
  readonly stream: string;
  readonly revision: bigint;
  /** Ticks of 100 ns since 1970, as the server reports them. */
  readonly created: string;
  readonly indexInAppend: number;
};

export const commitOf = ({ commit, position }: LogRecord): number => commit ?? position;

export const isReadable = ({ kind }: LogRecord): boolean => kind === 'event' || kind === 'tombstone';

export const scavenged = (record: LogRecord): LogRecord => ({
  ...record,
  kind: 'scavenged',
  data: NO_BYTES,
  metadata: NO_BYTES,
});

export type ExpectedRevision = 'any' | 'no_stream' | 'stream_exists' | bigint;

/** The revision of a tombstone, and the truncation mark of a soft-deleted stream. */
export const REVISION_MAX = 9_223_372_036_854_775_807n;

const TICKS_PER_MS = 10_000n;
export const TICKS_PER_S = TICKS_PER_MS * 1_000n;

export const ticksNow = (): bigint => BigInt(Date.now()) * TICKS_PER_MS;

const RECORD_OVERHEAD_BYTES = 88;
const NO_BYTES = new Uint8Array();

/**
 * Measured in the recorded run: a fixed overhead, two strings with a length prefix that grows past 127 bytes,
 * two blobs.
 */
export const sizeInLog = (record: {
  stream: string;
  type: string;
  data: Uint8Array;
  metadata: Uint8Array;
}): number =>
  RECORD_OVERHEAD_BYTES +
  prefixed(record.stream) +
  prefixed(record.type) +
  record.data.length +
  record.metadata.length;

const prefixed = (text: string): number => {
  const length = Buffer.byteLength(text);
  return length + (length > 127 ? 2 : 1);
};

export const jsonEventOf = (id: string, type: string, json: string): NewEvent => ({
  id,
  type,
  contentType: 'application/json',
  data: Buffer.from(json),
  metadata: NO_BYTES,
});

/** An event without content: the body of a tombstone and of an empty record. */
export const blankEvent = (id: string, type: string): NewEvent => ({
  id,
  type,
  contentType: 'application/octet-stream',
  data: NO_BYTES,
  metadata: NO_BYTES,
});
