import { expect } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { test as base, openClient } from '../engines/eventstoredb-fixture.ts';
import { anEvent, aStream } from './event-log-engine.ts';

const test = base
  .extend('client', { scope: 'file' }, openClient)
  /** A server constantly writes records of its own. */
  .extend('makeNoise', { scope: 'file' }, ({ client }) => async (records: number): Promise<void> => {
    for (let n = 0; n < records; n += 1) await client.setStreamMetadata(`noise-${n}`, { maxAge: 3_600 });
  });

test('the head of a log without events is its start, whatever the server has written', async ({
  log,
  makeNoise,
}) => {
  expect(await log.head()).toBe(START);
  await makeNoise(3);
  expect(await log.head()).toBe(START);
});

test('the head is the last event, whatever the server wrote after it, for old and new readers', async ({
  log,
  makeNoise,
  standIn,
}) => {
  for (const noise of [0, 1, 40, 1_001]) {
    const { position } = await log.append(aStream(), NO_STREAM, [anEvent(), anEvent()]);
    await makeNoise(noise);
    expect(await log.head()).toBe(position);
    await makeNoise(noise);
    expect(await log.head()).toBe(position);
    await using fresh = await openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address });
    expect(await fresh.head()).toBe(position);
  }
});

test('the server’s records after the last event are read once', async ({ log, makeNoise, standIn }) => {
  await makeNoise(30);
  const head = await log.head();
  await makeNoise(3);
  standIn.faults.reads({ kind: 'cut', afterEvents: 5 }, { stream: '$all', times: 10 });
  expect(await log.head()).toBe(head);
  expect(standIn.faults.pending()).toBe(8);
  standIn.faults.clear();
});
