import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { test as base } from '../../test/engines/pool.ts';
import { until } from '../../testing/until.ts';
import { readCheckpoint } from './checkpoint.ts';
import { startFollower } from './follower.ts';

const test = base.extend('connectionsMax', { scope: 'file' }, 8).extend('following', ({ eventLog, pool }) => {
  const parts = { pool, eventLog, log: pino({ level: 'silent' }), clock: REAL_TIME };
  const positionOf = async (name: string) => (await readCheckpoint(pool, name))?.position ?? 0;
  return {
    append: async (event = anEvent()) => (await eventLog.append(aStream(), NO_STREAM, [event])).position,
    options: (name: string) => ({ ...parts, name, metrics: createMetrics() }),
    positionOf,
    isAt: (name: string, position: number) =>
      until(
        () => positionOf(name),
        (at) => at === position,
      ),
  };
});

test('if a shared transaction fails, a checkpoint moves past no event that came meanwhile', async ({
  following: { append, isAt, options, positionOf },
}) => {
  const concerning = anEvent();
  const [skipped, begun, acted, failing] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  let isReady = false;
  let seen: number | undefined;
  await using _seldom = await startFollower({
    ...options('seldom'),
    concerns(events) {
      if (isReady) skipped?.resolve();
      return events.some(({ id }) => id === concerning.id);
    },
    act: async () => acted?.resolve(),
    async write() {
      seen = await positionOf('seldom');
    },
  });
  await using _fails = await startFollower({
    ...options('fails'),
    act: async () => void (isReady && (await skipped?.promise)),
    async write() {
      if (!isReady) return;
      isReady = false;
      begun?.resolve();
      await failing?.promise;
      throw new RangeError('once');
    },
  });
  // Checkpoints that exist, so that they can move together.
  const first = await append();
  await Promise.all([isAt('seldom', first), isAt('fails', first)]);
  isReady = true;
  const before = await append();
  await begun?.promise;
  const last = await append(concerning);
  await acted?.promise;
  await nextTurn();
  failing?.resolve();
  await Promise.all([isAt('seldom', last), isAt('fails', last)]);
  expect(seen).toBe(before);
});
