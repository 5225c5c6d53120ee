import { setTimeout as delay } from 'node:timers/promises';
import { test as base, describe, expect } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { openConfiguredEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { until } from '../../testing/until.ts';
import type { NodeState } from '../engines/eventstoredb/node.ts';
import { startStandIn } from '../engines/eventstoredb-fixture.ts';
import { anEvent, aStream, readAll } from './event-log-engine.ts';

/**
 * The behaviour of a cluster of three (eventstoredb/cluster.md), with nodes that find each other by gossip or
 * do not.
 */

const test = base
  .extend('standInOptions', { scope: 'file' }, {})
  .extend('node', { scope: 'file' }, startStandIn)
  .extend('other', { scope: 'file' }, startStandIn)
  /** Three hosts, one of which does not exist. A search for a node ends after a moment. */
  .extend(
    'cluster',
    { scope: 'file' },
    ({ node, other }) =>
      (suffix = '') =>
        `esdb://127.0.0.1:1,127.0.0.1:${other.port},127.0.0.1:${node.port}?tls=false&maxDiscoverAttempts=2&discoveryInterval=20${suffix}`,
  );

describe('an address with several hosts', () => {
  test.afterEach(({ other }) => other.become('leader'));

  test('is reported by its hosts only, if none of them answers', async () => {
    const eventLogUrl = 'esdb://annals:hunter2@127.0.0.1:1,127.0.0.1:2?maxDiscoverAttempts=1';
    const refused = openConfiguredEventLog({ eventLogUrl, databaseUrl: '', clock: REAL_TIME });
    await expect(refused).rejects.toThrow('No EventStoreDB answers at 127.0.0.1:1,127.0.0.1:2: start it,');
  });

  test.for(['unknown', 'discover-leader', 'pre-replica'] as const)(
    'leads to the node that leads, whatever another shows that is %s',
    async (state: NodeState, { cluster, node, other }) => {
      other.become(state);
      await using log = await openEventStoreEventLog({ clock: REAL_TIME, url: cluster(), timing: TIMING });
      const stream = aStream();
      expect(await log.append(stream, NO_STREAM, [anEvent()])).toMatchObject({ version: 1 });
      await using direct = await openEventStoreEventLog({
        clock: REAL_TIME,
        url: node.address,
        timing: TIMING,
      });
      expect(await readAll(direct, stream)).toHaveLength(1);
    },
  );
});

const TIMING = { retryBudgetMs: 5_000, answerWithinMs: 2_000, silenceMaxMs: 2_000 };

test('after a time without any node appends continue, and readiness fails until then', async ({
  cluster,
  node,
  other,
}) => {
  await other.stop();
  await using log = await openEventStoreEventLog({
    clock: REAL_TIME,
    url: cluster(),
    timing: { ...TIMING, retryBudgetMs: 400 },
  });
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  await log.check();
  await node.stop();
  await until(
    () => log.append(aStream(), NO_STREAM, [anEvent()]).catch((error: unknown) => error),
    (outcome) => outcome instanceof LogUnavailable && /Failed to discover/.test(String(outcome.cause)),
  );
  await delay(400);
  await expect(log.check()).rejects.toThrow(LogUnavailable);
  await node.restart();
  // A process that is not ready gets no requests, so readiness must recover without an append.
  await until(
    () => log.check().then(String, () => 'not ready'),
    (output) => output === 'undefined',
  );
  expect(await log.append(aStream(), NO_STREAM, [anEvent()])).toMatchObject({ version: 1 });
  await other.restart();
});
