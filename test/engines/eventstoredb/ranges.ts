import type { Log } from './log.ts';
import type { ServerPosition } from './read-request.ts';
import { commitOf, isReadable, type LogRecord } from './records.ts';
import { firstReadable, type Stream } from './stream.ts';

/** Ranges of the log that include visible records appended during the iteration. */

export function* allForwards(log: Log, firstIndex: number): Generator<LogRecord> {
  for (let index = firstIndex; index < log.visibleCount(); index += 1) {
    const record = log.records[index];
    if (record && isReadable(record)) yield record;
  }
}

export function* allBackwards(log: Log, endIndex: number): Generator<LogRecord> {
  for (let index = endIndex - 1; index >= 0; index -= 1) {
    const record = log.records[index];
    if (record && isReadable(record)) yield record;
  }
}

export function* streamForwards(log: Log, stream: Stream, from: bigint): Generator<LogRecord> {
  const first = firstReadable(stream, lastVisible(log, stream));
  for (let revision = from > first ? from : first; revision <= lastVisible(log, stream); revision += 1n) {
    const record = stream.records[Number(revision)];
    if (record && isReadable(record)) yield record;
  }
}

export function* streamBackwards(log: Log, stream: Stream, from: bigint): Generator<LogRecord> {
  const last = lastVisible(log, stream);
  const first = firstReadable(stream, last);
  for (let revision = from < last ? from : last; revision >= first && revision >= 0n; revision -= 1n) {
    const record = stream.records[Number(revision)];
    if (record && isReadable(record)) yield record;
  }
}

/** The newest durable revision; −1 without one. */
export const lastVisible = (log: Log, stream: Stream): bigint => {
  const end = log.records[log.visibleCount()]?.position ?? Number.POSITIVE_INFINITY;
  let index = stream.records.length - 1;
  while (index >= 0 && (stream.records[index]?.position ?? 0) >= end) index -= 1;
  return BigInt(index);
};

/** The index of the first record at or after a position. */
export const indexAtOrAfter = (log: Log, target: ServerPosition): number =>
  firstIndexWhere(log, (record) => !isBefore(record, target));

/** The index of the first record after a position. */
export const indexAfter = (log: Log, target: ServerPosition): number =>
  firstIndexWhere(
    log,
    (record) =>
      commitOf(record) > target.commit ||
      (commitOf(record) === target.commit && record.position > target.prepare),
  );

const isBefore = (record: LogRecord, target: ServerPosition): boolean =>
  commitOf(record) < target.commit ||
  (commitOf(record) === target.commit && record.position < target.prepare);

/** Valid positions are those of records, the start, and anything from the end of the log on. */
export const isValidPosition = (log: Log, { commit }: ServerPosition): boolean => {
  if (commit === 0 || commit >= log.endPosition()) return true;
  const record = log.records[firstIndexWhere(log, (each) => commitOf(each) >= commit)];
  return record !== undefined && commitOf(record) === commit && record.kind !== 'scavenged';
};

const firstIndexWhere = (log: Log, holds: (record: LogRecord) => boolean): number => {
  let [low, high] = [0, log.records.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const record = log.records[middle];
    if (record && holds(record)) high = middle;
    else low = middle + 1;
  }
  return low;
};
