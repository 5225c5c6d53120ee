import { eventTypeFilter } from '@eventstore/db-client';
import type { Position, StreamName } from '#kernel/base/brands.ts';
import { LogUnavailable } from '../errors.ts';
import { START } from '../event-log.ts';
import type { Reader } from './read.ts';
import { METADATA_STREAM_PREFIX, type StoredEvent, TOMBSTONE } from './record.ts';
import { serverPositionOf } from './server-positions.ts';

const METADATA = '$metadata';
/** Only a scan of the whole log tells which streams have metadata, and its filter is the server’s. */
const WINDOW = 10_000;

/**
 * The streams whose events may be cut: an operator has limited their number or age, or has deleted the stream.
 */
export const findCuttable = async (reader: Reader, after: Position): Promise<readonly StreamName[]> => {
  const found = new Set<string>();
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const silence = setTimeout(() => reject(silent()), reader.silenceMaxMs);
  const subscription = reader.connection.client.subscribeToAll({
    fromPosition: serverPositionOf(after === START ? reader.begin : after),
    filter: eventTypeFilter({
      prefixes: [METADATA, TOMBSTONE],
      maxSearchWindow: WINDOW,
      checkpointReached: () => void silence.refresh(),
    }),
  });
  subscription.on('data', ({ event }) => {
    silence.refresh();
    const stream = event && streamCutBy(event);
    if (stream !== undefined) found.add(stream);
  });
  subscription.on('caughtUp', resolve);
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
  const { prefix } = reader;
  return [...found]
    .filter((stream) => stream.startsWith(prefix))
    .map((stream) => stream.slice(prefix.length) as StreamName);
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
