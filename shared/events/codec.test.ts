import fc from 'fast-check';
import { v4 } from 'uuid';
import { describe, expect, test } from 'vitest';
import type { CommentId, EventId, Position, StreamName, UserId, Version } from '#shared/brands.ts';
import type { NewEvent, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { JsonObject } from '#shared/json.ts';
import { KeyDestroyed, type KeyStore } from '#shared/keys/key-store.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { arbitraryEvent } from './arbitrary-event.ts';
import { hashOf } from './canonical.ts';
import { type AnnalsEvent, CATALOGUE, type EventOf } from './catalogue.ts';
import { createCodec } from './codec.ts';
import type { EventDefinition } from './define-event.ts';
import { MalformedEvent, UnknownEventType } from './errors.ts';
import { streamName } from './streams.ts';

const ADA = 7001 as UserId;
const SECRETS = ['Ada Lovelace', 'ada@example.com'] as const;
const registered: AnnalsEvent = {
  type: 'user.registered',
  data: { userId: ADA, name: SECRETS[0], email: SECRETS[1], role: 'author' },
};
const context = {
  at: '2026-01-02T03:04:05.678Z',
  actor: 'user:7001',
  client: 'web',
  request: 'request-1',
  correlation: 'correlation-1',
  causation: 'causation-1',
} as const;

const newId = () => v4() as EventId;
const recordedOf = (event: NewEvent, stream: StreamName): RecordedEvent => ({
  ...event,
  // What a log gives back has gone through JSON.
  data: JSON.parse(JSON.stringify(event.data)),
  stream,
  version: 3 as Version,
  position: 9 as Position,
  recordedAt: new Date(0),
});

const streamOf = (event: AnnalsEvent): StreamName => {
  const { kind, key }: EventDefinition['stream'] = CATALOGUE[event.type].stream;
  return streamName(kind, key === null ? 'x' : String((event.data as JsonObject)[key]));
};

const setUp = (keys: KeyStore = memoryKeyStore()) => {
  const codec = createCodec({ keys });
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

describe('a round trip', () => {
  test('gives every event back as it was, with its place and circumstances', async () => {
    const { codec, store } = setUp();
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryEvent, { maxLength: 5 }), async (events) => {
        const stored = await Promise.all(events.map(store));
        const decoded = await codec.decodeAll(stored);
        expect(decoded.map(({ type, data }) => ({ type, data }))).toEqual(events.map((event) => JSON.parse(JSON.stringify(event))));
      }),
    );
  });

  test('keeps the envelope', async () => {
    const { store, decode } = setUp();
    const stored = await store(registered);
    const { id, stream, version, position, recordedAt } = stored;
    expect(await decode(stored)).toEqual({
      ...registered,
      id,
      stream,
      version,
      position,
      recordedAt,
      metadata: { version: 1, ...context },
    });
  });

  test('names correlation and causation as EventStoreDB does', async () => {
    const { metadata } = await setUp().store(registered);
    expect(metadata).toMatchObject({ $correlationId: 'correlation-1', $causationId: 'causation-1' });
  });

  test('of a change without personal fields seals nothing', async () => {
    const { data } = await setUp().store({ type: 'user.updated', data: { userId: ADA, role: 'admin' } });
    expect(data).toEqual({ userId: ADA, role: 'admin' });
  });

  test('asks the key store once for all events', async () => {
    const { keys, store } = setUp();
    const ben = { ...registered.data, userId: 7002 as UserId } as EventOf<'user.registered'>['data'];
    const stored = [await store(registered), await store({ type: 'user.registered', data: ben })];
    const asked: UserId[][] = [];
    const codec = createCodec({
      keys: {
        obtain: keys.obtain,
        find: (subjects) => {
          asked.push([...subjects]);
          return keys.find(subjects);
        },
      },
    });
    await codec.decodeAll([...stored, ...stored]);
    expect(asked).toEqual([[7001, 7002]]);
  });

  test('seals the same content differently each time', async () => {
    const { store } = setUp();
    const [one, other] = [await store(registered), await store(registered)];
    expect(one.data.personal).not.toEqual(other.data.personal);
  });
});

describe('personal fields', () => {
  test('are nowhere in the stored form', async () => {
    const stored = JSON.stringify(await setUp().store(registered));
    for (const secret of SECRETS) expect(stored).not.toContain(secret);
  });

  test('are null once the key is destroyed, and the hash stays', async () => {
    const { keys, store, decode } = setUp();
    const stored = await store(registered);
    const hash = hashOf(stored);
    await keys.destroy(ADA);
    expect((await decode(stored))?.data).toEqual({ userId: ADA, name: null, email: null, role: 'author' });
    expect(hashOf(stored)).toEqual(hash);
  });

  test('cannot be sealed for an erased person', async () => {
    const { keys, store } = setUp();
    await keys.destroy(ADA);
    await expect(store(registered)).rejects.toThrow(KeyDestroyed);
  });

  test('in clear are refused, because they could never be erased', async () => {
    const { store, decode } = setUp();
    const stored = await store(registered);
    await expect(decode({ ...stored, data: { ...registered.data } })).rejects.toThrow('name is not sealed');
  });

  test('that were erased are refused as content of a new event', async () => {
    const { store } = setUp();
    await expect(store({ ...registered, data: { ...registered.data, name: null } } as AnnalsEvent)).rejects.toThrow(MalformedEvent);
  });
});

describe('tampering', () => {
  const comment: AnnalsEvent = {
    type: 'comment.added',
    data: { commentId: 9001 as CommentId, articleId: 8001 as never, authorId: ADA, text: 'Splendid.' },
  };
  const flipBit = (text: string, index: number) => {
    const bytes = Buffer.from(text.slice(2), 'base64url');
    bytes[index % bytes.length] = (bytes[index % bytes.length] ?? 0) ^ 1;
    return `1.${bytes.toString('base64url')}`;
  };
  const personalOf = ({ data }: RecordedEvent) => data.personal as { subject: UserId; sealed: string };

  test.each<[string, (event: RecordedEvent) => RecordedEvent]>([
    ['the id', (event) => ({ ...event, id: newId() })],
    ['the type', (event) => ({ ...event, type: 'comment.edited' })],
    ['the person', (event) => ({ ...event, data: { ...event.data, personal: { ...personalOf(event), subject: 7002 } } })],
    ['the author', (event) => ({ ...event, data: { ...event.data, authorId: 7002 } })],
    ['the stream', (event) => ({ ...event, stream: 'comment-9002' as StreamName })],
    ['the format', (event) => ({ ...event, data: { ...event.data, personal: { ...personalOf(event), sealed: '2.AAAA' } } })],
    ['the length', (event) => ({ ...event, data: { ...event.data, personal: { ...personalOf(event), sealed: '1.AAAA' } } })],
    ['the version', (event) => ({ ...event, metadata: { ...event.metadata, version: 2 } })],
    ['a field', (event) => ({ ...event, data: { ...event.data, extra: 1 } })],
  ])('with %s is found', async (_, tamper) => {
    const { keys, store, decode } = setUp();
    await keys.obtain(7002 as UserId);
    const stored = await store(comment);
    await expect(decode(tamper(stored))).rejects.toThrow(MalformedEvent);
  });

  test('with any bit of the ciphertext is found', async () => {
    const { store, decode } = setUp();
    const stored = await store(comment);
    const { subject, sealed } = personalOf(stored);
    for (let index = 0; index < Buffer.from(sealed.slice(2), 'base64url').length; index += 1) {
      const tampered = { ...stored, data: { ...stored.data, personal: { subject, sealed: flipBit(sealed, index) } } };
      await expect(decode(tampered)).rejects.toThrow(MalformedEvent);
    }
  });
});

describe('what cannot be decoded', () => {
  test('is named when its type is unknown', async () => {
    const { store, decode } = setUp();
    const unknown = { ...(await store(registered)), type: 'user.renamed' };
    await expect(decode(unknown)).rejects.toThrow(UnknownEventType);
    await expect(decode(unknown)).rejects.toThrow(`Event ${unknown.id} at position 9 has the unknown type "user.renamed"`);
  });

  test('is named by type, version, id and position, without personal content', async () => {
    const { codec, keys } = setUp();
    const lower = createCodec({ keys });
    const invalid = { ...registered, data: { ...registered.data, role: SECRETS[1] } } as unknown as AnnalsEvent;
    const id = newId();
    const failure = await codec.encode(invalid, context, id, 'user-7001' as StreamName).catch((error: unknown) => error as MalformedEvent);
    expect(failure).toBeInstanceOf(MalformedEvent);
    expect(String(failure)).toBe(
      `MalformedEvent: Event ${id} (user.registered, version 1, not recorded yet) is malformed: role (invalid_value)`,
    );
    const stored = { ...(await setUp(keys).store(registered)), metadata: { version: 1, at: 'today' } };
    const later = await lower.decodeAll([stored]).catch((error: unknown) => error as MalformedEvent);
    expect(String(later)).toContain(`Event ${stored.id} (user.registered, version 1, at position 9) is malformed: at (invalid_format)`);
  });

  test('includes an event whose person has no key, as after the loss of the key table', async () => {
    const stored = await setUp().store(registered);
    await expect(setUp().decode(stored)).rejects.toThrow('there is no key of its person');
  });

  test('makes no key when the event is malformed before', async () => {
    const { keys, codec } = setUp();
    const invalid = { ...registered, data: { ...registered.data, name: ' ' } } as AnnalsEvent;
    await expect(codec.encode(invalid, context, newId(), 'user-7001' as StreamName)).rejects.toThrow('name (custom)');
    expect(await keys.find([ADA])).toEqual(new Map());
  });

  test('includes an event on the stream of another', async () => {
    const { codec } = setUp();
    await expect(codec.encode(registered, context, newId(), 'user-7002' as StreamName)).rejects.toThrow('does not belong on user-7002');
  });
});
