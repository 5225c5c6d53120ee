// Over 200 lines, because it is all in which the engine differs.
import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type EventLog, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { test as base, ourEvent, thing } from '../../test/engines/authentic-log.ts';
import { ours } from '../../test/engines/eventstoredb/ours.ts';
import { inEventStoreDB } from '../../test/engines/log-engines.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { openEventStoreEventLog } from './eventstore-event-log.ts';

/** The same as shared/authentic-events/authentic-events.database.gate.test.ts, as far as EventStoreDB differs. */
const test = base
  .extend('startLog', { scope: 'file' }, () => inEventStoreDB)
  .extend('neighbour', ({ place }, { onCleanup }) => {
    const client = EventStoreDBClient.connectionString(place.url ?? '');
    onCleanup(() => client.dispose());
    return client;
  });

const allOf = async (log: EventLog): Promise<readonly RecordedEvent[]> =>
  (await Array.fromAsync(readBetween(log, { after: START, upTo: await log.head() }))).flat();

const REFUSED = 'event.not_authentic';
const LOOK_MS = 60_000;
const FOREIGN = 'event.foreign_record';

const rawOf = async (client: EventStoreDBClient, stream: StreamName) => {
  const found = await Array.fromAsync(client.readStream(ours(stream)));
  return found.flatMap(({ event }) => (event ? [event] : []));
};

test('the metadata of each record has a MAC, which no reader of the log sees', async ({
  place,
  neighbour,
}) => {
  await using opened = await place.open();
  const [stream, event] = [thing(), ourEvent()];
  await opened.eventLog.append(stream, NO_STREAM, [
    event,
    ourEvent({ 'ü\ud800': ['\u2028', 1e21, -0.5, null] }),
  ]);
  await opened.eventLog.append(stream, 'any', [ourEvent()]);
  const raw = await rawOf(neighbour, stream);
  for (const { metadata } of raw)
    expect(metadata).toMatchObject({ mac: expect.stringMatching(/^[0-9a-f]{32}$/) });
  await using anew = await place.open();
  for (const log of [opened.eventLog, anew.eventLog]) {
    const events = await allOf(log);
    expect(events.map(({ type }) => type)).toEqual(['thing.noted', 'thing.noted', 'thing.noted']);
    expect(events[0]?.metadata).toEqual(event.metadata);
  }
});

test('a record that another client has appended is no event of ours', async ({ place, neighbour }) => {
  await using opened = await place.open();
  const [stream, other] = [thing(), thing()];
  await opened.eventLog.append(stream, NO_STREAM, [ourEvent()]);
  const [own] = await rawOf(neighbour, stream);
  const metadata = own?.metadata as JsonObject;
  const { mac: _, ...bare } = metadata;
  const data = own?.data as JsonObject;
  const forged = (its: JsonObject, id: string = randomUUID()) =>
    jsonEvent({ id, type: 'thing.noted', data, metadata: its });
  await neighbour.appendToStream(ours(stream), forged(bare));
  await neighbour.appendToStream(ours(stream), forged(metadata));
  await neighbour.appendToStream(ours(other), forged(metadata, own?.id));
  await using anew = await place.open();
  for (const log of [opened.eventLog, anew.eventLog])
    expect((await allOf(log)).map(({ type }) => type)).toEqual(['thing.noted', REFUSED, REFUSED, REFUSED]);
  const [page = []] = await Array.fromAsync(anew.eventLog.read(stream));
  expect(page.map(({ type }) => type)).toEqual(['thing.noted', REFUSED, REFUSED]);
  await expect(anew.authentic.check()).rejects.toThrow('3 events that no command wrote');
});

test('a record without the metadata of an event does not keep its type', async ({ place, neighbour }) => {
  await using opened = await place.open();
  const stream = 'user-7' as StreamName;
  await opened.eventLog.append(stream, NO_STREAM, [ourEvent()]);
  const deleted = { type: 'user.deleted', data: {} };
  await neighbour.appendToStream(ours(stream), jsonEvent(deleted));
  await neighbour.appendToStream(ours(stream), jsonEvent({ ...deleted, data: [1] as never }));
  const events = await allOf(opened.eventLog);
  expect(events.map(({ type }) => type)).toEqual(['thing.noted', FOREIGN, FOREIGN]);
  expect(events[2]).toMatchObject({
    metadata: { foreign: { type: 'user.deleted', data: { form: 'a list' } } },
  });
  expect((await Array.fromAsync(opened.eventLog.read(stream))).flat()).toEqual(events);
  await opened.authentic.check();
});

test('an append that expects any version is stored once, also if it is repeated', async ({ place }) => {
  await using opened = await place.open();
  const stream = thing();
  const events = [ourEvent({ n: 1 }), ourEvent({ n: 2 })];
  await opened.eventLog.append(stream, 'any', [ourEvent({ n: 0 })]);
  const first = await opened.eventLog.append(stream, 'any', events);
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => opened.eventLog.append(stream, 'any', [ourEvent({ n })])),
  );
  expect(await opened.eventLog.append(stream, 'any', events)).toMatchObject(first);
  const [page = []] = await Array.fromAsync(opened.eventLog.read(stream));
  expect(page).toHaveLength(23);
  expect(page.every(({ type }) => type === 'thing.noted')).toBe(true);
});

test('without any record of since when, a log with MACs is not opened', async ({ place }) => {
  {
    await using opened = await place.open();
    await opened.eventLog.append(thing(), NO_STREAM, [ourEvent()]);
  }
  await place.pool.query('delete from public.authentic_events');
  await expect(place.open({ auditDir: `${place.auditDir}-other` })).rejects.toThrow(
    'Events of the log have MACs',
  );
});

test('a log that a command has filled is opened by the first start', async ({ place }) => {
  {
    await using command = await place.open({ isReader: true });
    for (const expected of [NO_STREAM, 'any'] as const)
      await command.eventLog.append(thing(), expected, [ourEvent()]);
  }
  await using opened = await place.open({ auditDir: `${place.auditDir}-other` });
  expect((await allOf(opened.eventLog)).map(({ type }) => type)).toEqual(['thing.noted', 'thing.noted']);
});

test('an event that somebody has cut away is named no more', async ({ neighbour, place }) => {
  const clock = createTestClock();
  await using opened = await place.open({ clock });
  const stream = thing();
  await opened.eventLog.append(stream, NO_STREAM, [ourEvent()]);
  const [own] = await rawOf(neighbour, stream);
  const { data, metadata } = own as { readonly data: JsonObject; readonly metadata: JsonObject };
  await neighbour.appendToStream(ours(stream), jsonEvent({ type: 'thing.noted', data, metadata }));
  await allOf(opened.eventLog);
  const check = () =>
    opened.authentic.check().then(
      () => 'fine',
      (error: Error) => error.message,
    );
  expect(await check()).toContain('an event that no command wrote');
  await clock.pass(LOOK_MS);
  expect(await check()).toContain('an event that no command wrote');
  await neighbour.deleteStream(ours(stream));
  await clock.pass(LOOK_MS);
  await until(check, (said) => said === 'fine');
});

test('a MAC is found before any number of records without one', async ({ place }) => {
  {
    await using opened = await place.open();
    await opened.eventLog.append(thing(), NO_STREAM, [ourEvent()]);
  }
  await using former = await place.openFormer();
  for (let appended = 0; appended < 11_000; appended += 1_000)
    await former.append(
      thing(),
      NO_STREAM,
      Array.from({ length: 1_000 }, () => ourEvent()),
    );
  await place.pool.query('delete from public.authentic_events');
  await expect(place.open({ auditDir: `${place.auditDir}-other` })).rejects.toThrow(
    'Events of the log have MACs',
  );
});

test('two installations on one server have MACs of their own', async ({ place }) => {
  await using opened = await place.open();
  const stream = thing();
  await opened.eventLog.append(stream, NO_STREAM, [ourEvent()]);
  await using beside = await openEventStoreEventLog({
    ...{ clock: REAL_TIME, url: place.url ?? '', prefix: 'other', authentic: opened.authentic },
  });
  await beside.append(stream, NO_STREAM, [ourEvent({ n: 2 })]);
  expect((await allOf(beside)).map(({ data }) => data)).toEqual([{ n: 2 }]);
  expect((await allOf(opened.eventLog)).map(({ data }) => data)).toEqual([{ n: 1 }]);
});

test('a log of an earlier release, which cannot read a MAC, gets none for a day', async ({
  neighbour,
  place,
}) => {
  const hasMac = async (stream: StreamName) =>
    (await rawOf(neighbour, stream)).map(({ metadata }) => 'mac' in (metadata as object));
  await using former = await place.openFormer();
  await former.append(thing(), NO_STREAM, [ourEvent()]);
  await using opened = await place.open();
  await using later = await place.open({ clock: createTestClock(Date.now() + 25 * 3_600_000) });
  const stream = thing();
  await opened.eventLog.append(stream, NO_STREAM, [ourEvent()]);
  await opened.eventLog.append(stream, 'any', [ourEvent()]);
  await later.eventLog.append(stream, 'any', [ourEvent()]);
  expect(await hasMac(stream)).toEqual([false, false, true]);
  for (const log of [opened.eventLog, later.eventLog])
    expect((await allOf(log)).map(({ type }) => type)).toEqual(
      Array.from({ length: 4 }, () => 'thing.noted'),
    );
});
