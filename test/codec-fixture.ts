import { v4 } from 'uuid';
import { publishing } from '#domain/publishing.ts';
import type { EventId, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { NewEvent, RecordedEvent } from '#shared/event-log/event-log.ts';
import { type AnnalsEvent, catalogueOf } from '#shared/events/catalogue.ts';
import { createCodec } from '#shared/events/codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';

/** Fixtures for tests of the codec: a person, an event about her, and the stored form of one event. */
export const ADA = 7001 as UserId;
export const SECRETS = ['Ada Lovelace', 'ada@example.com'] as const;
export const registered: AnnalsEvent = {
  type: 'user.registered',
  data: { userId: ADA, name: SECRETS[0], email: SECRETS[1], role: 'author' },
};
export const context = {
  at: '2026-01-02T03:04:05.678Z',
  actor: 'user:7001',
  client: 'web',
  request: 'request-1',
  correlation: 'correlation-1',
  causation: 'causation-1',
} as const;

export const newId = () => v4() as EventId;
const recordedOf = (event: NewEvent, stream: StreamName): RecordedEvent => ({
  ...event,
  // The log returns JSON.
  data: JSON.parse(JSON.stringify(event.data)),
  stream,
  version: 3 as Version,
  position: 9 as Position,
  recordedAt: new Date(0),
});

const streamOf = (event: AnnalsEvent): StreamName => {
  const { kind, key } = (catalogueOf(publishing).find(event.type) as EventDefinition).stream;
  return streamName(kind, key === null ? 'x' : String((event.data as JsonObject)[key]));
};

export const setUp = (keys: KeyStore = memoryKeyStore()) => {
  const codec = createCodec({ keys, domain: publishing });
  return {
    keys,
    codec,
    store: async (event: AnnalsEvent) => {
      const stream = streamOf(event);
      return recordedOf(await codec.encode(event, context, newId(), stream), stream);
    },
    decode: async (event: RecordedEvent) => {
      const [decoded] = await codec.decodeAll([event]);
      return decoded;
    },
  };
};
