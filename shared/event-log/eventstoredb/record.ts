import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import type { EventId, Position, StreamName } from '#shared/brands.ts';
import type { RecordedEvent } from '../event-log.ts';
import { contentOf, foreignContent, storableName } from '../foreign-record.ts';
import { positionAt, versionAt } from './server-positions.ts';

/** An event as the client reads it, from a stream or from the whole log. */
export type StoredEvent = NonNullable<(ResolvedEvent | AllStreamResolvedEvent)['event']>;

/**
 * The stream that holds the log’s identity. No stream of an event can have this name: a kind has no
 * underscore.
 */
export const IDENTITY_STREAM = 'annals_log-identity';

/** The server keeps the metadata of a stream in a stream of its own. */
export const METADATA_STREAM_PREFIX = '$$';

/**
 * Records that the server wrote for itself (statistics, metadata, links, tombstones), and ours about the log.
 */
export const isOfSystem = ({ streamId, type }: StoredEvent): boolean =>
  streamId.startsWith('$') || type.startsWith('$') || streamId === IDENTITY_STREAM;

export const positionOf = ({ id, position }: StoredEvent): Position => {
  if (!position)
    throw new Error(
      `EventStoreDB did not return the position of event ${id}: versions before 22.6 are not supported`,
    );
  return positionAt(position);
};

/** A record in binary form has no JSON, whatever its bytes say. */
export const toEvent = (stored: StoredEvent, position = positionOf(stored)): RecordedEvent => {
  const { streamId, revision, id, type, data, metadata, created, isJson } = stored;
  const content = isJson ? contentOf({ data, metadata }) : foreignContent({ data, metadata });
  return {
    position,
    stream: storableName(streamId) as StreamName,
    version: versionAt(revision),
    id: id as EventId,
    type: storableName(type),
    ...content,
    recordedAt: created,
  };
};
