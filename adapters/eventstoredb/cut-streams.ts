import { eventTypeFilter } from '@eventstore/db-client';
import type { Position, StreamName } from '#kernel/base/brands.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { CutStreams } from '#shared/event-log/event-log.ts';
import { recordAt } from './event-at.ts';
import { beginOf, type Reader } from './read.ts';
import {
  isOfTransaction,
  METADATA_STREAM_PREFIX,
  positionOf,
  type StoredEvent,
  TOMBSTONE,
} from './record.ts';
import { serverPositionOf } from './server-positions.ts';

const METADATA = '$metadata';
/**
 * Only a scan of the whole log tells which streams have metadata, and its filter is the server’s. The server
 * reports its progress after this number of records.
 */
const WINDOW = 1_000;

/**
 * The streams whose events may be cut: an operator has limited their number or age, or has deleted the stream.
 */
export const findCuttable = async (reader: Reader, after: Position): Promise<CutStreams> => {
  const { streams, upTo } = await scanAfter(reader, await scanFrom(reader, after));
  const { prefix } = reader;
  return {
    upTo,
    streams: [...streams]
      .filter((stream) => stream.startsWith(prefix))
      .map((stream) => stream.slice(prefix.length) as StreamName),
  };
};

/**
 * The record up to which the log was scanned may be one of others. If it is gone, the server may have been
 * restored to a time before it, and new records then begin before it as well.
 */
const scanFrom = async (reader: Reader, after: Position): Promise<Position> => {
  const begin = beginOf(reader);
  if (after <= begin) return begin;
  return (await recordAt(reader, after)) === undefined ? begin : after;
};

type Scanned = { readonly streams: ReadonlySet<string>; readonly upTo: Position };

/** The subscription passes on all of these in the order of the log. */
type Received = { readonly event?: StoredEvent; readonly checkpoint?: Position; readonly isAll?: true };

const scanAfter = async (reader: Reader, begin: Position): Promise<Scanned> => {
  const streams = new Set<string>();
  let upTo = begin;
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const silence = setTimeout(() => reject(silent()), reader.silenceMaxMs);
  const subscription = reader.connection.client.subscribeToAll({
    fromPosition: serverPositionOf(begin),
    filter: eventTypeFilter({
      prefixes: [METADATA, TOMBSTONE],
      maxSearchWindow: WINDOW,
      checkpointReached(scanning, { commit, prepare }) {
        silence.refresh();
        // No record begins at any other.
        if (commit === prepare) scanning.push({ checkpoint: Number(commit) as Position } satisfies Received);
      },
    }),
  });
  subscription.on('data', ({ event, checkpoint, isAll }: Received) => {
    silence.refresh();
    const stream = event && streamCutBy(event);
    if (stream !== undefined) streams.add(stream);
    const reached = event && !isOfTransaction(event) ? positionOf(event) : checkpoint;
    if (reached !== undefined && reached > upTo) upTo = reached;
    if (isAll) resolve();
  });
  // Records that it has received before may still wait in its buffer.
  subscription.on('caughtUp', () => void subscription.push({ isAll: true } satisfies Received));
  subscription.on('end', () => reject(silent()));
  // This listener stays: without one, a late error would end the process.
  subscription.on('error', reject);
  try {
    await over;
  } finally {
    clearTimeout(silence);
    subscription.destroy();
    subscription.unsubscribe().catch(() => {});
  }
  return { streams, upTo };
};

const silent = (): LogUnavailable =>
  new LogUnavailable('EventStoreDB did not list the streams that have metadata');

const streamCutBy = ({ streamId, type, data }: StoredEvent): string | undefined => {
  if (type === TOMBSTONE) return ofTheServer(streamId) ? undefined : streamId;
  if (type !== METADATA || !streamId.startsWith(METADATA_STREAM_PREFIX) || !canCut(data)) return undefined;
  const described = streamId.slice(METADATA_STREAM_PREFIX.length);
  return ofTheServer(described) ? undefined : described;
};

const ofTheServer = (stream: string): boolean => stream.startsWith('$');

const canCut = (metadata: unknown): boolean =>
  typeof metadata === 'object' && metadata !== null && CUTTING.some((name) => Object.hasOwn(metadata, name));

const CUTTING = ['$tb', '$maxCount', '$maxAge'];
