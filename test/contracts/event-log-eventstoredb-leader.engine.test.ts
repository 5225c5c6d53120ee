import { test as base, expect } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { type EventLog, NO_STREAM, START } from '#shared/event-log/event-log.ts';
import type { Checkpoint } from '#shared/follower/checkpoint.ts';
import { demandCheckpoint, demandEvent } from '#shared/follower/demand-checkpoint.ts';
import { positionOf } from '../../proof/at.ts';
import { positionOfCursor } from '../../query/rest/cursor-position.ts';
import { until } from '../../testing/until.ts';
import { type EventStoreCluster, startEventStoreCluster } from '../engines/eventstoredb/cluster.ts';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { anEvent, aStream, readAll, startFollowing, version } from './event-log-engine.ts';

/** Answers of nodes other than the leader (eventstoredb/cluster.md, 1 and 5), if the address leads there. */

const TIMING = { retryBudgetMs: 5_000, answerWithinMs: 2_000, silenceMaxMs: 2_000 };

const test = base
  .extend('clusterOptions', {} as Parameters<typeof startEventStoreCluster>[0])
  .extend('cluster', async ({ clusterOptions }, { onCleanup }) => {
    const cluster = await startEventStoreCluster(clusterOptions);
    onCleanup(() => cluster[Symbol.asyncDispose]());
    return cluster;
  })
  .extend('one', ({ cluster }) => cluster.nodes[0] as EventStoreStandIn)
  .extend('other', ({ cluster }) => cluster.nodes[1] as EventStoreStandIn);

const open = (address: string, timing = TIMING) =>
  openEventStoreEventLog({ clock: REAL_TIME, url: address, timing });

type At = { readonly cluster: EventStoreCluster; readonly other: EventStoreStandIn };
test.for<[string, (at: At) => string]>([
  ['a single host that is no leader', ({ other }) => other.address],
  ['a host that is asked for the others', ({ other }) => other.address.replace('esdb:', 'esdb+discover:')],
  ['a preference for followers', ({ cluster }) => `${cluster.address}&nodePreference=follower`],
])(
  'an acknowledged event can be read at once by %s, although followers lag',
  async ([_, address], { cluster, other }) => {
    await using log = await open(address({ cluster, other }));
    await log.append(aStream(), NO_STREAM, [anEvent()]);
    for (const node of cluster.nodes.slice(1)) node.lag();
    await using follower = startFollowing(log, START);
    const stream = aStream();
    const event = anEvent();
    const { position } = await log.append(stream, NO_STREAM, [event]);
    expect([await log.head(), await log.eventAt(position)]).toEqual([position, event.id]);
    expect(await readAll(log, stream)).toHaveLength(1);
    await follower.until((seen) => seen.at(-1)?.id === event.id);
  },
);

test('a change of leader is followed, and the former leader, which lags, is not asked any more', async ({
  cluster,
  one,
  other,
}) => {
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

test('a leader that the other nodes cannot reach is left for the one that they elect', async ({
  cluster,
  one,
  other,
}) => {
  await using log = await open(cluster.address);
  const stream = aStream();
  await log.append(stream, NO_STREAM, [anEvent()]);
  one.isolate();
  one.lag();
  other.become('leader');
  const { position } = await log.append(stream, version(1), [anEvent()]);
  expect(other.appendCalls()).toBe(1);
  expect(await log.head()).toBe(position);
});

test('events that a node shows at its start and truncates later reach nobody', async ({
  cluster,
  one,
  other,
}) => {
  await using log = await open(one.address, { ...TIMING, retryBudgetMs: 300 });
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

/** Like a leader that does not know yet that it is deposed, until its first request. */
const deposed = (log: EventLog, node: EventStoreStandIn): EventLog => {
  node.lag(1);
  const afterwards = <Answer>(answer: Answer): Answer => {
    node.catchUp();
    return answer;
  };
  const eventAt: EventLog['eventAt'] = (position) => log.eventAt(position).then(afterwards);
  return { ...log, head: () => log.head().then(afterwards), eventAt };
};

test.for<[string, (log: EventLog, last: Checkpoint) => Promise<unknown>]>([
  ['a role refuses to start', (log, last) => demandCheckpoint('projector', log, last)],
  ['a follower ends', (log, last) => demandEvent(log, last)],
  [
    'a cursor is refused',
    (log, { position }) =>
      positionOfCursor(formatCursor(log.identity, position), {
        eventLog: log,
        known: START,
        parameter: 'after',
      }),
  ],
  [
    'a position is refused',
    (log, { position }) => positionOf({ eventLog: log } as never, String(position), '--at'),
  ],
])('a lagging leader is asked again before %s', async ([_, demand], { one }) => {
  await using log = await open(one.address);
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  const event = anEvent();
  const { position } = await log.append(aStream(), NO_STREAM, [event]);
  await demand(deposed(log, one), { log: log.identity, position, event: event.id });
});

test('a refused retry looks again for its stored events, if they are not visible yet', async ({ one }) => {
  await using log = await open(one.address);
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  const stream = aStream();
  one.faults.appends({ kind: 'unanswered', stored: false }, { stream });
  one.faults.appends({ kind: 'stored-and-refused' }, { stream });
  one.lag();
  const appended = log.append(stream, NO_STREAM, [anEvent()]);
  await until(
    () => one.faults.pending(),
    (left) => left === 0,
  );
  one.faults.reads({ kind: 'delayed', delayMs: 1 }, { stream });
  await until(
    () => one.faults.pending(),
    (left) => left === 0,
  );
  one.catchUp();
  expect(await appended).toMatchObject({ version: 1 });
});
