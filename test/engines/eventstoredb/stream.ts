import { type LogRecord, REVISION_MAX, TICKS_PER_S, ticksNow } from './records.ts';

/** One stream of the log. A scavenge leaves a mark in its place, so a revision is also the index of its record. */
export type Stream = {
  readonly records: LogRecord[];
  /** The first revision of each id: the answer to a repeated append. */
  readonly revisionOfId: Map<string, bigint>;
  metadata: StreamMetadata;
  tombstone: LogRecord | undefined;
};

type StreamMetadata = {
  readonly json: Readonly<Record<string, unknown>>;
  readonly maxCount?: number;
  readonly maxAgeS?: number;
  readonly truncateBefore: bigint;
};

export const newStream = (): Stream => ({
  records: [],
  revisionOfId: new Map(),
  metadata: { json: {}, truncateBefore: 0n },
  tombstone: undefined,
});

export const lastRevision = (stream: Stream): bigint => BigInt(stream.records.length) - 1n;

export const isSoftDeleted = (stream: Stream): boolean => stream.metadata.truncateBefore === REVISION_MAX;

/** The first revision that `$maxCount`, `$maxAge` and `$tb` leave readable, counted from the last visible one. */
export const firstReadable = ({ metadata, records }: Stream, last: bigint): bigint => {
  const { maxCount, maxAgeS, truncateBefore } = metadata;
  const byCount = maxCount === undefined ? 0n : last + 1n - BigInt(maxCount);
  const byAge = maxAgeS === undefined ? 0n : firstYounger(records, maxAgeS);
  return [byCount, byAge].reduce((latest, one) => (one > latest ? one : latest), truncateBefore);
};

const firstYounger = (records: readonly LogRecord[], ageS: number): bigint => {
  const since = ticksNow() - BigInt(ageS) * TICKS_PER_S;
  const index = records.findIndex(({ created }) => BigInt(created) >= since);
  return BigInt(index === -1 ? records.length : index);
};

/**
 * Whether a scavenge removes a record of a stream. It keeps the last event of a stream that was not
 * tombstoned, and the last metadata.
 */
export const isScavengeable = (stream: Stream, record: LogRecord): boolean => {
  if (record.kind !== 'event') return false;
  if (stream.tombstone) return true;
  const last = lastRevision(stream);
  return (
    record.revision < last &&
    (record.stream.startsWith(METADATA_STREAM_PREFIX) || record.revision < firstReadable(stream, last))
  );
};

const METADATA_STREAM_PREFIX = '$$';

export const metadataStreamOf = (stream: string): string => `${METADATA_STREAM_PREFIX}${stream}`;

/** The stream that a `$metadata` record describes, if it is one. */
export const describedBy = (record: LogRecord): string | undefined =>
  record.kind === 'event' && record.type === '$metadata' && record.stream.startsWith(METADATA_STREAM_PREFIX)
    ? record.stream.slice(METADATA_STREAM_PREFIX.length)
    : undefined;

export const metadataIn = (record: LogRecord): StreamMetadata => {
  const json = objectIn(Buffer.from(record.data).toString('utf8'));
  // The mark of a deleted stream exceeds the precision of a JSON number, so it is recognised by its size.
  const { $maxCount: maxCount, $maxAge: maxAgeS, $tb: mark } = json;
  const truncateBefore =
    typeof mark !== 'number' ? 0n : mark > Number.MAX_SAFE_INTEGER ? REVISION_MAX : BigInt(mark);
  return {
    ...{ json, truncateBefore },
    ...(typeof maxCount === 'number' && { maxCount }),
    ...(typeof maxAgeS === 'number' && { maxAgeS }),
  };
};

/** The current metadata with another truncation mark, which deletes or recreates a stream. */
export const metadataTruncatedBefore = ({ json }: StreamMetadata, mark: bigint): string => {
  const others = Object.entries(json).filter(([name]) => name !== '$tb');
  const members = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${[...members, `"$tb":${mark}`].join(',')}}`;
};

/** Metadata that is not a JSON object has no effect. */
const objectIn = (text: string): Record<string, unknown> => {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
};
