import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import { foreignContent } from '#shared/event-log/foreign-record.ts';
import { arbitraryEvent } from '../../test/arbitrary-event.ts';
import { ADA, context, newId, registered, SECRETS, setUp } from '../../test/codec-fixture.ts';
import type { AnnalsEvent, EventOf } from './catalogue.ts';
import { createCodec } from './codec.ts';
import { ForeignRecord, MalformedEvent, UnknownEventType } from './errors.ts';

describe('a round trip', () => {
  test('returns every event unchanged, with its position and metadata', async () => {
    const { codec, store } = setUp();
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryEvent, { maxLength: 5 }), async (events) => {
        const stored = await Promise.all(events.map(store));
        const decoded = await codec.decodeAll(stored);
        expect(decoded.map(({ type, data }) => ({ type, data }))).toEqual(
          events.map((event) => JSON.parse(JSON.stringify(event))),
        );
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
      seal: expect.stringMatching(/^[\w-]{43}$/),
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
      domain: publishing,
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

describe('an event that cannot be decoded', () => {
  test('is named when its type is unknown', async () => {
    const { store, decode } = setUp();
    const unknown = { ...(await store(registered)), type: 'user.renamed' };
    await expect(decode(unknown)).rejects.toThrow(UnknownEventType);
    await expect(decode(unknown)).rejects.toThrow(
      `Event ${unknown.id} at position 9 has the unknown type "user.renamed"`,
    );
  });

  test.each([
    ['of another application', { by: 'shop' }, 'its metadata lacks fields that Annals always writes'],
    [
      'without metadata',
      foreignContent({ data: [SECRETS[1]], metadata: undefined }).metadata,
      'it has data in the form of a list',
    ],
  ])('is named as foreign if it is %s, whatever its type', async (_what, metadata, reason) => {
    const { store, decode } = setUp();
    const own = await store(registered);
    for (const type of [own.type, 'order.placed']) {
      const failure = await decode({ ...own, type, metadata }).catch((error: unknown) => error as Error);
      expect(failure).toBeInstanceOf(ForeignRecord);
      expect(String(failure)).toContain(
        `foreign_record: event ${own.id} (${type}, at position 9) was not written by Annals: ${reason}`,
      );
      for (const secret of SECRETS) expect(String(failure)).not.toContain(secret);
    }
  });

  test('is named by type, version, id and position, without personal content', async () => {
    const { codec, store } = setUp();
    const invalid = {
      ...registered,
      data: { ...registered.data, role: SECRETS[1] },
    } as unknown as AnnalsEvent;
    const id = newId();
    const failure = await codec
      .encode(invalid, context, id, 'user-7001' as StreamName)
      .catch((error: unknown) => error as MalformedEvent);
    expect(failure).toBeInstanceOf(MalformedEvent);
    expect(String(failure)).toBe(
      `MalformedEvent: Event ${id} (user.registered, version 1, not recorded yet) is malformed: role (invalid_value)`,
    );
    const whole = await store(registered);
    const stored = { ...whole, metadata: { ...whole.metadata, at: 'today' } };
    const later = await codec.decodeAll([stored]).catch((error: unknown) => error as MalformedEvent);
    expect(String(later)).toContain(
      `Event ${stored.id} (user.registered, version 1, at position 9) is malformed: at (invalid_format)`,
    );
  });

  test('includes an event whose person has no key, as after the loss of the key table', async () => {
    const stored = await setUp().store(registered);
    await expect(setUp().decode(stored)).rejects.toThrow('the key of its person is missing');
  });

  test('creates no key if the event is malformed', async () => {
    const { keys, codec } = setUp();
    const invalid = { ...registered, data: { ...registered.data, name: ' ' } } as AnnalsEvent;
    await expect(codec.encode(invalid, context, newId(), 'user-7001' as StreamName)).rejects.toThrow(
      'name (custom)',
    );
    expect(await keys.find([ADA])).toEqual(new Map());
  });

  test('includes an event on the stream of another aggregate', async () => {
    const { codec } = setUp();
    await expect(codec.encode(registered, context, newId(), 'user-7002' as StreamName)).rejects.toThrow(
      'does not belong on user-7002',
    );
  });
});
