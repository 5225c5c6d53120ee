import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect, test } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import type { LogIdentity, StreamName } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { anEvent, aStream, readAll, startFollowing } from './event-log-engine.ts';

const owner = (follows?: LogIdentity) => ({ id: randomUUID(), follows });

const openFor = (address: string, given: Partial<Parameters<typeof openEventStoreEventLog>[0]>) =>
  openEventStoreEventLog({ clock: REAL_TIME, url: address, ...given });
const recordsOf = async (address: string): Promise<number> => {
  const client = EventStoreDBClient.connectionString(address);
  const { length } = await Array.fromAsync(client.readAll());
  await client.dispose();
  return length;
};

test('the owner of a log refuses others, who write nothing', async () => {
  await using standIn = await startEventStoreStandIn();
  const [first, second] = [owner(), owner()];
  await using log = await openFor(standIn.address, { owner: first });
  const before = await recordsOf(standIn.address);
  await expect(openFor(standIn.address, { owner: second })).rejects.toThrow(
    /^The event log at EVENT_LOG_URL with EVENT_LOG_PREFIX annals belongs to another installation: set another EVENT_LOG_PREFIX/,
  );
  expect(await recordsOf(standIn.address)).toBe(before);
  await using again = await openFor(standIn.address, { owner: first });
  expect(again.identity).toBe(log.identity);
  await using beside = await openFor(standIn.address, { owner: second, prefix: 'second' });
  expect(beside.identity).not.toBe(log.identity);
  const elsewhere = randomUUID() as LogIdentity;
  await expect(openFor(standIn.address, { owner: { ...second, takesOver: elsewhere } })).rejects.toThrow(
    `--erase --log ${log.identity}`,
  );
  await using taken = await openFor(standIn.address, { owner: { ...second, takesOver: log.identity } });
  expect(taken.identity).toBe(log.identity);
  await expect(openFor(standIn.address, { owner: first })).rejects.toThrow('belongs to another installation');
});

test('the owner of a log is one of several that start at the same time', async () => {
  await using standIn = await startEventStoreStandIn();
  const opened = await Promise.allSettled(
    Array.from({ length: 4 }, () => openFor(standIn.address, { owner: owner() })),
  );
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of opened)
    if (one.status === 'fulfilled') await one.value[Symbol.asyncDispose]();
    else expect(one.reason).toMatchObject({ message: expect.stringContaining('another installation') });
});

test('the owner of a log is named beside commands that have none yet', async () => {
  await using standIn = await startEventStoreStandIn();
  const mine = owner();
  const opened = await Promise.all(
    Array.from({ length: 8 }, (_, index) => openFor(standIn.address, index % 2 === 0 ? {} : { owner: mine })),
  );
  expect(new Set(opened.map(({ identity }) => identity)).size).toBe(1);
  for (const each of opened) await each[Symbol.asyncDispose]();
  await expect(openFor(standIn.address, { owner: owner() })).rejects.toThrow('another installation');
});

const IDENTITY = 'annals.annals_log-identity';

test.each<[how: string, cut: (client: EventStoreDBClient) => Promise<unknown>]>([
  ['limited', (client) => client.setStreamMetadata(IDENTITY, { truncateBefore: 1 })],
  ['limited to its last', (client) => client.setStreamMetadata(IDENTITY, { maxCount: 1 })],
  ['deleted', (client) => client.deleteStream(IDENTITY)],
  ['deleted permanently', (client) => client.tombstoneStream(IDENTITY)],
])('a start says that the identity of the log was %s', async (_, cut) => {
  await using standIn = await startEventStoreStandIn();
  const [first, second] = [owner(), owner()];
  const follows = await (async () => {
    await using log = await openFor(standIn.address, { owner: first });
    await using _taken = await openFor(standIn.address, { owner: { ...second, takesOver: log.identity } });
    return log.identity;
  })();
  const client = EventStoreDBClient.connectionString(standIn.address);
  await cut(client);
  await client.dispose();
  await expect(openFor(standIn.address, { owner: { ...second, follows } })).rejects.toMatchObject({
    name: 'StartRefused',
    message: expect.stringMatching(
      `^The stream ${IDENTITY}, which names the event log, was limited or deleted`,
    ),
  });
});

test('the owner of a log from before prefixes is the one whose database follows it', async () => {
  await using standIn = await startEventStoreStandIn();
  const client = EventStoreDBClient.connectionString(standIn.address);
  const identity = randomUUID() as LogIdentity;
  await client.appendToStream(
    'annals_log-identity',
    jsonEvent({ type: 'log.identified', data: { identity }, metadata: {} }),
  );
  const stream = aStream();
  await client.appendToStream(stream, jsonEvent({ type: 'thing.noted', data: { n: 1 }, metadata: {} }));
  const before = await recordsOf(standIn.address);
  await expect(openFor(standIn.address, { owner: owner() })).rejects.toThrow('without a prefix belongs');
  expect(await recordsOf(standIn.address)).toBe(before);
  const command = { id: undefined, follows: undefined };
  await expect(openFor(standIn.address, { owner: command })).rejects.toThrow('without a prefix belongs');
  const mine = owner(identity);
  await using log = await openFor(standIn.address, { owner: mine });
  expect(log.identity).toBe(identity);
  expect(await readAll(log, stream)).toHaveLength(1);
  await expect(openFor(standIn.address, { owner: mine, prefix: 'shop' })).rejects.toThrow(
    'remove EVENT_LOG_PREFIX',
  );
  // Its database was restored from a backup of before the upgrade.
  await using restored = await openFor(standIn.address, { owner: owner(identity) });
  expect(restored.identity).toBe(identity);
  await expect(openFor(standIn.address, { owner: mine })).rejects.toThrow('another installation');
  await using beside = await openFor(standIn.address, { owner: owner(), prefix: 'shop' });
  expect(beside.identity).not.toBe(identity);
  const head = await log.head();
  await beside.append(stream, NO_STREAM, [anEvent()]);
  expect(await log.head()).toBe(head);
  const { position } = await log.append(aStream(), NO_STREAM, [anEvent()]);
  await using follower = startFollowing(log, START);
  expect(await follower.until((seen) => seen.at(-1)?.position === position)).toHaveLength(2);
  await client.dispose();
});

test('a log from before prefixes leaves out what follows the identity of another, and nothing that only looks so', async () => {
  await using standIn = await startEventStoreStandIn();
  const client = EventStoreDBClient.connectionString(standIn.address);
  const identity = randomUUID() as LogIdentity;
  const note = (stream: string) =>
    client.appendToStream(stream, jsonEvent({ type: 'thing.noted', data: { n: 1 }, metadata: {} }));
  await client.appendToStream(
    'annals_log-identity',
    jsonEvent({ type: 'log.identified', data: { identity }, metadata: {} }),
  );
  // An earlier release has chained these.
  for (const stream of ['billing.invoice-1', 'thing-1', 'shop.thing-1']) await note(stream);
  const open = () => openFor(standIn.address, { owner: owner(identity) });
  await using log = await open();
  const expected = ['billing.invoice-1', 'thing-1', 'shop.thing-1'];
  await using follower = startFollowing(log, START);
  await follower.until(({ length }) => length === expected.length);
  await using beside = await openFor(standIn.address, { owner: owner(), prefix: 'shop' });
  await beside.append('thing-2' as StreamName, NO_STREAM, [anEvent()]);
  await note('billing.invoice-2');
  expected.push('billing.invoice-2');
  const heard = await follower.until(({ length }) => length >= expected.length);
  await beside.append('thing-3' as StreamName, NO_STREAM, [anEvent()]);
  await using late = await open();
  for (const each of [log, late]) {
    expect(await each.head()).toBe(heard.at(-1)?.position);
    await using again = startFollowing(each, START);
    const seen = await again.until(({ length }) => length >= expected.length);
    expect(seen.map(({ stream }) => stream)).toEqual(expected);
    await using behind = startFollowing(each, seen[2]?.position ?? START);
    expect((await behind.until(({ length }) => length >= 1)).map(({ stream }) => stream)).toEqual([
      'billing.invoice-2',
    ]);
    expect(await each.eventAt(seen[0]?.position ?? START)).toBe(seen[0]?.id);
  }
  await client.dispose();
});

test('a prefix that no setting can name is refused', async () => {
  await using standIn = await startEventStoreStandIn();
  const before = await recordsOf(standIn.address);
  for (const prefix of ['prod-eu', 'annals.eu', ''])
    await expect(openFor(standIn.address, { prefix })).rejects.toThrow('EVENT_LOG_PREFIX must be');
  expect(await recordsOf(standIn.address)).toBe(before);
});

test('an owner whose log is not there is refused, and writes nothing', async () => {
  await using standIn = await startEventStoreStandIn();
  const before = await recordsOf(standIn.address);
  const follows = randomUUID() as LogIdentity;
  await expect(openFor(standIn.address, { owner: owner(follows) })).rejects.toThrow(follows);
  expect(await recordsOf(standIn.address)).toBe(before);
});
