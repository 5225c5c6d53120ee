import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { openEventStoreEventLog } from '#shared/event-log/eventstoredb/eventstore-event-log.ts';
import { type EventStoreCluster, startEventStoreCluster } from '../engines/eventstoredb/cluster.ts';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { anEvent, aStream, readAll, startFollowing, version } from './event-log-engine.ts';

/** What nodes other than the leader show (eventstoredb/cluster.md, 1 and 5), to whom the address leads there. */

const TIMING = { patienceMs: 5_000, answerWithinMs: 2_000, silenceMaxMs: 2_000 };

let cluster: EventStoreCluster;
let one: EventStoreStandIn;
let other: EventStoreStandIn;
beforeEach(async () => {
  cluster = await startEventStoreCluster();
  [one, other] = cluster.nodes as unknown as [EventStoreStandIn, EventStoreStandIn];
});
afterEach(() => cluster[Symbol.asyncDispose]());

const open = (address: string, timing = TIMING) => openEventStoreEventLog({ url: address, timing });

test.each([
  ['a single host that is no leader', () => other.address],
  ['a host that is asked for the others', () => other.address.replace('esdb:', 'esdb+discover:')],
  ['a preference for followers', () => `${cluster.address}&nodePreference=follower`],
])('what was acknowledged is read at once by %s, though followers lag', async (_, address) => {
  await using log = await open(address());
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  for (const node of cluster.nodes.slice(1)) node.lag();
  await using follower = startFollowing(log, START);
  const stream = aStream();
  const event = anEvent();
  const { position } = await log.append(stream, NO_STREAM, [event]);
  expect([await log.head(), await log.eventAt(position)]).toEqual([position, event.id]);
  expect(await readAll(log, stream)).toHaveLength(1);
  await follower.until((seen) => seen.at(-1)?.id === event.id);
});

test('a change of leader is followed, and the former leader, which lags, is not asked any more', async () => {
  await using log = await open(cluster.address);
  const stream = aStream();
  await log.append(stream, NO_STREAM, [anEvent()]);
  one.lag();
  cluster.lead(1);
  const { position } = await log.append(stream, version(1), [anEvent()]);
  expect(await log.head()).toBe(position);
  expect(await readAll(log, stream)).toHaveLength(2);
  expect([one.appendCalls(), other.appendCalls()]).toEqual([1, 1]);
});

test('events that a node shows at its start and cuts off later reach nobody', async () => {
  await using log = await open(one.address, { ...TIMING, patienceMs: 300 });
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  await using follower = startFollowing(log, START);
  await follower.until((seen) => seen.length === 1);
  await one.stop();
  one.standAlone(3);
  cluster.lead(1);
  one.become('discover-leader');
  await one.restart();
  await expect(log.head()).rejects.toThrow(LogUnavailable);
  await using atLeader = await open(other.address);
  const kept = anEvent();
  await atLeader.append(aStream(), NO_STREAM, [kept]);
  one.catchUp();
  one.become('follower');
  await follower.until((seen) => seen.at(-1)?.id === kept.id);
  expect(follower.seen).toHaveLength(2);
});
