import type { AllStreamResolvedEvent, ResolvedEvent } from '@eventstore/db-client';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { AuthenticLog } from '#shared/authentic-events/authentic-log.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { contentOf, foreignContent, storableName } from '#shared/event-log/foreign-record.ts';
import type { StreamPrefix } from './own-streams.ts';
import { positionAt, versionAt } from './server-positions.ts';

/** An event as the client reads it, from a stream or from the whole log. */
export type StoredEvent = NonNullable<(ResolvedEvent | AllStreamResolvedEvent)['event']>;

/**
 * The stream that holds the log’s identity, after its prefix. No stream of an event can have this name: a kind
 * has no underscore.
 */
export const IDENTITY_STREAM = 'annals_log-identity';

/** The server keeps the metadata of a stream in a stream of its own. */
export const METADATA_STREAM_PREFIX = '$$';

/** The last record of a stream that was deleted permanently. */
export const TOMBSTONE = '$streamDeleted';

/**
 * Whether a client of the TCP protocol, which today’s servers no longer have, wrote a record in an explicit
 * transaction. All of its records share the position of its end.
 */
export const isOfTransaction = ({ position }: StoredEvent): boolean =>
  position !== undefined && position.commit !== position.prepare;

/**
 * Records that the server wrote for itself (statistics, metadata, tombstones), ours about the log, and those
 * of transactions, which have no position of their own to follow. A link in any other stream has a version there, so that it counts as a foreign record.
 */
export const isOfSystem = (stored: StoredEvent, prefix: StreamPrefix): boolean => {
  const { streamId, type } = stored;
  return (
    streamId.startsWith('$') ||
    type === TOMBSTONE ||
    isOfTransaction(stored) ||
    streamId === `${prefix}${IDENTITY_STREAM}`
  );
};

/** Of a record of a transaction, that of its end. */
export const positionOf = ({ id, position }: StoredEvent): Position => {
  if (!position)
    throw new Error(
      `EventStoreDB did not return the position of event ${id}: versions before 22.6 are not supported`,
    );
  return positionAt(position);
};

/** The place of the MAC in the metadata of a record; the metadata of an event has no such field. */
const MAC = 'mac';

/** Metadata with a MAC, as JSON text. */
export const withMac = (metadata: string, mac: string): string =>
  `${metadata.slice(0, -1)}${metadata === '{}' ? '' : ','}"${MAC}":"${mac}"}`;

export type Decoding = {
  readonly prefix: StreamPrefix;
  /** Without it, MACs are not checked. */
  readonly authentic?: AuthenticLog | undefined;
};

/** Decodes a record of a stream of the log’s own. A record in binary form has no JSON, whatever its bytes say. */
export const toEvent = (
  stored: StoredEvent,
  { prefix, authentic }: Decoding,
  position = positionOf(stored),
): RecordedEvent => {
  const { streamId, revision, id, type, data, created, isJson } = stored;
  const isReadable = isJson && !isOfTransaction(stored);
  const { metadata, mac } = partMac(stored.metadata);
  const content = isReadable ? contentOf({ data, metadata }) : foreignContent({ data, metadata });
  const event: RecordedEvent = {
    position,
    stream: storableName(streamId.slice(prefix.length)) as StreamName,
    version: versionAt(revision),
    id: id as EventId,
    type: storableName(type),
    ...content,
    recordedAt: created,
  };
  if (authentic === undefined) return event;
  // The text that was stored, because JSON that was written from an object is written the same again.
  return authentic.admit(event, {
    data: JSON.stringify(event.data),
    metadata: JSON.stringify(event.metadata),
    mac,
  });
};

const partMac = (metadata: unknown): { readonly metadata: unknown; readonly mac: string | null } => {
  if (!hasMac(metadata)) return { metadata, mac: null };
  const { [MAC]: mac, ...others } = metadata;
  return { metadata: others, mac };
};

export const hasMac = (metadata: unknown): metadata is JsonObject & { readonly [MAC]: string } =>
  typeof metadata === 'object' &&
  metadata !== null &&
  MAC in metadata &&
  typeof (metadata as { readonly mac: unknown }).mac === 'string';
