import { randomUUID } from 'node:crypto';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { Product } from './product.ts';
import { commitOf, type LogRecord } from './records.ts';

/** The messages with events, as bytes: an event looks the same to every reader, so it is encoded once. */

const encoded = new WeakMap<LogRecord, Buffer>();

export const eventBytes = (record: LogRecord): Buffer => {
  const known = encoded.get(record);
  if (known) return known;
  const bytes = bytesOf(new streams.ReadResp().setEvent(readEventOf(record)));
  encoded.set(record, bytes);
  return bytes;
};

const readEventOf = (record: LogRecord) => {
  const position = `${record.position}`;
  const event = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(streamIdentifier(record.stream))
    .setStreamRevision(`${record.revision}`)
    .setPreparePosition(position)
    .setCommitPosition(`${commitOf(record)}`)
    .setCustomMetadata(record.metadata)
    .setData(record.data);
  event
    .getMetadataMap()
    .set('content-type', record.contentType)
    .set('created', record.created)
    .set('type', record.type);
  return new streams.ReadResp.ReadEvent().setEvent(event).setCommitPosition(`${commitOf(record)}`);
};

export const streamIdentifier = (stream: string): StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream));

export const streamNameIn = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? []).toString('utf8');

export const streamNotFoundBytes = (stream: string): Buffer =>
  bytesOf(
    new streams.ReadResp().setStreamNotFound(
      new streams.ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream)),
    ),
  );

export const confirmationBytes = (): Buffer =>
  bytesOf(
    new streams.ReadResp().setConfirmation(
      new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID()),
    ),
  );

export const caughtUpBytes = (): Buffer =>
  bytesOf(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));

export const checkpointBytes = (commit: number, prepare: number): Buffer =>
  bytesOf(
    new streams.ReadResp().setCheckpoint(
      new streams.ReadResp.Checkpoint().setCommitPosition(`${commit}`).setPreparePosition(`${prepare}`),
    ),
  );

const bytesOf = (message: ReadResp): Buffer => Buffer.from(message.serializeBinary());

const STREAMS = 'event_store.client.streams.streams';
const METHODS: readonly (readonly [name: string, service: string, ...features: string[]])[] = [
  ['read', STREAMS, 'position', 'events'],
  ['append', STREAMS],
  ['delete', STREAMS],
  ['tombstone', STREAMS],
  ['batchappend', STREAMS, 'deadline_duration'],
  ['getsupportedmethods', 'event_store.client.server_features.serverfeatures'],
];

/** The methods that the recorded server advertised, without services that the stand-in lacks. */
export const supportedMethods = ({ version }: Product): SupportedMethods => {
  const answer = new features.SupportedMethods().setEventStoreServerVersion(version);
  for (const [name, service, ...offered] of METHODS) {
    answer.addMethods(
      new features.SupportedMethod().setMethodName(name).setServiceName(service).setFeaturesList(offered),
    );
  }
  return answer;
};
