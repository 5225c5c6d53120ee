import { expect, test } from 'vitest';
import type { EventId, Position, UserId, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { memoryKeyStore } from '#shared/keys/memory/key-store.ts';
import { context, newId } from '../../test/codec-fixture.ts';
import { after, before } from '../../test/toy/grown.ts';
import { catalogueOf } from './catalogue.ts';
import { createCodec } from './codec.ts';
import { decodeClear } from './decode-clear.ts';

/** A release reads the events of earlier releases, which have versions of their own. */
const HOST = 7001 as UserId;
const stream = streamName('visit', 5);
const keys = () => memoryKeyStore();

const store = async (
  written: Domain,
  persons: ReturnType<typeof keys>,
  type: string,
  data: object,
): Promise<RecordedEvent> => ({
  ...(await createCodec({ keys: persons, domain: written }).encode(
    { type, data: data as never },
    context,
    newId() as EventId,
    stream,
  )),
  stream,
  version: 1 as Version,
  position: 1 as Position,
  recordedAt: new Date(0),
});
const decoded = async (read: Domain, persons: ReturnType<typeof keys>, event: RecordedEvent) => {
  const [first] = await createCodec({ keys: persons, domain: read }).decodeAll([event]);
  return first?.data;
};

const BOOKED = { visitId: 5, hostId: HOST, visitor: 'Vera', minutes: 90 };

test('events of version 1 are read as those of version 2, even without their personal fields', async () => {
  const all = keys();
  const event = await store(before, all, 'visit.booked', BOOKED);
  expect(event.metadata.version).toBe(1);
  expect(await decoded(after, all, event)).toEqual({ visitId: 5, hostId: HOST, guest: 'Vera', hours: 2 });
  expect(decodeClear(catalogueOf(after), event)).toMatchObject({
    schemaVersion: 2,
    data: { visitId: 5, hostId: HOST, hours: 2 },
  });
  await all.destroy(HOST);
  expect(await decoded(after, all, event)).toEqual({ visitId: 5, hostId: HOST, guest: null, hours: 2 });
});

test('an event that states only changed fields keeps that form', async () => {
  const all = keys();
  const event = await store(before, all, 'visit.prolonged', { visitId: 5, hostId: HOST, minutes: 61 });
  expect(await decoded(after, all, event)).toEqual({ visitId: 5, hostId: HOST, hours: 2 });
});

test('new events have version 2, which the former release refuses', async () => {
  const all = keys();
  const event = await store(after, all, 'visit.booked', {
    visitId: 5,
    hostId: HOST,
    guest: 'Vera',
    hours: 2,
  });
  expect(event.metadata.version).toBe(2);
  await expect(decoded(before, all, event)).rejects.toThrow('visit.booked is known up to version 1');
});
