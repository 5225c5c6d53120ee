import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import type { EventId, Position, StreamName } from '#shared/brands.ts';
import type { JsonObject } from '#shared/json.ts';
import type { RecordedEvent } from '../event-log.ts';
import { positionAt, versionAt } from './server-positions.ts';

/** An event as the client reads it, from a stream or from the whole log. */
export type StoredEvent = NonNullable<(ResolvedEvent | AllStreamResolvedEvent)['event']>;

/**
 * The stream that holds the log’s identity. No stream of an event can have this name: a kind has no
 * underscore.
 */
export const IDENTITY_STREAM = 'annals_log-identity';

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

export const toEvent = (stored: StoredEvent, position = positionOf(stored)): RecordedEvent => {
  const { streamId, revision, id, type, data, metadata, created } = stored;
  return {
    position,
    stream: streamId as StreamName,
    version: versionAt(revision),
    id: id as EventId,
    type,
    data: jsonObject(data, stored),
    metadata: jsonObject(metadata, stored),
    recordedAt: created,
  };
};

/** Foreign records in this log may have any content; skipping them silently would hide them. */
const jsonObject = (value: unknown, { id, streamId, isJson }: StoredEvent): JsonObject => {
  if (
    isJson &&
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Uint8Array)
  )
    return value as JsonObject;
  throw new Error(
    `event ${id} in ${streamId} was not written by Annals: its data and metadata are not JSON objects`,
  );
};
