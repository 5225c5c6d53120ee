import pino from 'pino';
import { expect, test } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { createTestClock } from '../test/engines/test-clock.ts';
import { until } from '../testing/until.ts';
import { createHandOver, type Own, WAIT_FOR_ROOM_MS, WAITING_MAX } from './hand-over.ts';
import type { PlannedRun } from './planned-runs.ts';

const idOf = (id: number) => id as WebhookId;
const NOTHING: PlannedRun = { deliveries: [] };
const plannedFor = (...ids: readonly number[]) => new Map(ids.map((id) => [idOf(id), NOTHING]));

/** Runs that end on command. */
const setUp = (runsMax: number) => {
  const under = new Map<
    WebhookId,
    PromiseWithResolvers<{ readonly hasMore: boolean } | undefined> & { readonly own: Own }
  >();
  const queued: WebhookId[] = [];
  const stopping = new AbortController();
  const clock = createTestClock();
  const own = createHandOver({
    runOnce(webhookId, of) {
      const run = { ...Promise.withResolvers<{ readonly hasMore: boolean } | undefined>(), own: of };
      under.set(webhookId, run);
      return run.promise;
    },
    runsMax,
    enqueue: (webhookIds) => void queued.push(...webhookIds),
    stopping: stopping.signal,
    log: pino({ level: 'silent' }),
    clock,
  });
  const runOf = (id: number) => {
    const run = under.get(idOf(id));
    if (!run) throw new Error(`${id} was not begun`);
    return run;
  };
  return {
    ...own,
    runOf,
    begun: () => [...under.keys()],
    queued,
    clock,
    stop: () => stopping.abort(),
  };
};

test('starts planned runs at once, up to half of its capacity, and others as soon as these end', async () => {
  const { handOver, begun, queued, runOf, waiting } = setUp(4);
  handOver(plannedFor(1, 2, 3, 4));
  expect(begun()).toEqual([1, 2]);
  expect(runOf(1).own.isCrowded()).toBe(true);
  runOf(1).resolve({ hasMore: false });
  await until(begun, (ids) => ids.length === 3);
  expect(waiting.has(idOf(4))).toBe(true);
  runOf(2).resolve({ hasMore: false });
  await until(begun, (ids) => ids.length === 4);
  expect(runOf(4).own.isCrowded()).toBe(false);
  expect(queued).toEqual([]);
});

test('a run that had to wait looks in the ledger, because another process may have sent its deliveries', async () => {
  const { handOver, begun, runOf } = setUp(2);
  const planned = { deliveries: [{}], version: 3 } as unknown as PlannedRun;
  handOver(new Map([1, 2].map((id) => [idOf(id), planned])));
  runOf(1).resolve({ hasMore: false });
  await until(begun, (ids) => ids.length === 2);
  expect([runOf(1).own.offered, runOf(2).own.offered]).toEqual([[planned], [NOTHING]]);
});

test('a webhook that waits is run by the queue if that comes first', async () => {
  const { handOver, run, begun, waiting } = setUp(2);
  handOver(plannedFor(1, 2));
  void run(idOf(2));
  expect(waiting.has(idOf(2))).toBe(false);
  expect(begun()).toEqual([1, 2]);
});

test('after a run that could not start, those that wait are left to the sweeper', async () => {
  const { handOver, begun, runOf, waiting, size } = setUp(2);
  handOver(plannedFor(1, 2, 3));
  runOf(1).reject(new Error('the database does not answer'));
  await until(size, (left) => left === 0);
  expect([begun(), waiting.size]).toEqual([[1], 0]);
  handOver(plannedFor(4));
  expect(begun()).toEqual([1, 4]);
});

test('leaves more than its limit to the queue, and when it stops all that wait', () => {
  const { handOver, queued, stop } = setUp(2);
  const ids = Array.from({ length: WAITING_MAX + 3 }, (_, index) => index + 1);
  handOver(plannedFor(...ids));
  expect(queued).toEqual(ids.slice(-2));
  stop();
  expect(queued).toHaveLength(WAITING_MAX + 2);
});

test('enqueues a webhook with more deliveries, and one that it could not run', async () => {
  const { handOver, runOf, queued, size } = setUp(8);
  handOver(plannedFor(1, 2, 3));
  runOf(1).resolve({ hasMore: true });
  runOf(2).resolve(undefined);
  runOf(3).resolve({ hasMore: false });
  await until(size, (left) => left === 0);
  expect(queued).toEqual([1, 2]);
});

test('a queued run that another process has is queued again if more was planned meanwhile', async () => {
  const { run, handOver, runOf } = setUp(8);
  const [planned, not] = [run(idOf(1)), run(idOf(2))];
  handOver(plannedFor(1));
  runOf(1).resolve(undefined);
  runOf(2).resolve(undefined);
  expect(await Promise.all([planned, not])).toEqual([true, false]);
});

test('offers planned deliveries to the active run, and enqueues the webhook if it has ended', async () => {
  const { handOver, runOf, queued, size } = setUp(8);
  handOver(plannedFor(1));
  const { own, resolve } = runOf(1);
  handOver(plannedFor(1));
  expect(own.offered).toHaveLength(2);
  own.run = { offer: () => false } as unknown as NonNullable<Own['run']>;
  handOver(plannedFor(1));
  resolve({ hasMore: false });
  await until(size, (left) => left === 0);
  expect(queued).toEqual([1]);
});

test('a queued run waits for capacity, and is returned if there is none', async () => {
  const { run, runOf, begun, clock } = setUp(1);
  const first = run(idOf(1));
  const returned = run(idOf(2));
  await clock.advance(WAIT_FOR_ROOM_MS);
  expect(await returned).toBe(true);
  const second = run(idOf(2));
  runOf(1).resolve({ hasMore: false });
  expect(await first).toBe(false);
  await until(begun, (ids) => ids.length === 2);
  runOf(2).resolve({ hasMore: true });
  expect(await second).toBe(true);
});

test('starts nothing after it was stopped', async () => {
  const { run, handOver, stop, begun, queued } = setUp(8);
  stop();
  handOver(plannedFor(1));
  expect(await run(idOf(2))).toBe(false);
  expect(begun()).toEqual([]);
  expect(queued).toEqual([1]);
});
