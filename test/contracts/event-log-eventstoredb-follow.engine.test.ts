// Over 200 lines, because every way of following is tried on the one stand-in that is set up here.
import { EventStoreDBClient, jsonEvent, NO_STREAM as NO_STREAM_YET } from '@eventstore/db-client';
import { describe, expect, vi } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import type { Position } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { POLL_MS } from '#shared/event-log/tail.ts';
import { scaled } from '../../testing/load.ts';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { freshTest as base } from '../engines/eventstoredb-fixture.ts';
import { anEvent, aStream, startFollowing } from './event-log-engine.ts';

/** Each pitfall of notes/event-log.md and of eventstoredb/README.md for followers. */

const TIMING = { retryBudgetMs: 5_000, answerWithinMs: 200, silenceMaxMs: 200 };
const ALL = { stream: '$all' };

const test = base
  .extend('standInOptions', { liveLagMax: 8 })
  .extend('logOptions', { timing: TIMING })
  .extend('appendOne', ({ log }) => async (): Promise<string> => {
    const event = anEvent();
    await log.append(aStream(), NO_STREAM, [event]);
    return event.id;
  })
  .extend('appendMany', ({ log }) => async (count: number): Promise<string[]> => {
    const events = Array.from({ length: count }, () => anEvent());
    for (let from = 0; from < count; from += 1_000)
      await log.append(aStream(), NO_STREAM, events.slice(from, from + 1_000));
    return events.map(({ id }) => id);
  })
  /** Waits until a follower waits for the notifier, so that what follows meets a live subscription. */
  .extend(
    'untilLive',
    ({ standIn }) =>
      () =>
        vi.waitFor(() => expect(standIn.liveSubscriptions()).toBe(1), {
          timeout: scaled(5_000),
          interval: 5,
        }),
  )
  .extend(
    'followToTheEnd',
    ({ log }) =>
      (after: Position) =>
        Array.fromAsync(log.follow(after, new AbortController().signal)),
  );

const idsOf = (seen: readonly { readonly id: string }[]) => seen.map(({ id }) => id);

describe('a follower', () => {
  test.for(['too-slow', 'silent-end'] as const)(
    'goes on after its subscription has ended (%s), again and again',
    async (how, { appendOne, log, standIn, untilLive }) => {
      await using follower = startFollowing(log, await log.head());
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        await untilLive();
        standIn.endSubscriptions(how);
        ids.push(await appendOne());
      }
      expect(idsOf(await follower.until((seen) => seen.length >= 5))).toEqual(ids);
    },
  );

  test.for([
    { kind: 'too-slow', at: 'live' },
    { kind: 'silent-end', at: 'live' },
    { kind: 'too-slow', at: 'transition' },
    { kind: 'silent-end', at: 'transition' },
    { kind: 'access-denied', at: 'start' },
  ] as const)(
    'sees the event in whose place its subscription ends ($kind, $at)',
    async (fault, { appendOne, log, standIn, untilLive }) => {
      standIn.faults.subscriptions(fault, ALL);
      await using follower = startFollowing(log, await log.head());
      if (fault.at === 'live') await untilLive();
      const id = await appendOne();
      expect(idsOf(await follower.until((seen) => seen.length >= 1))).toEqual([id]);
    },
  );

  test('that is not read for a while is dropped by the server, and skips nothing', async ({
    appendMany,
    appendOne,
    log,
    untilLive,
  }) => {
    const following = log.follow(await log.head(), new AbortController().signal)[Symbol.asyncIterator]();
    const first = following.next();
    await untilLive();
    const ids = [await appendOne()];
    const seen = [...((await first).value ?? [])];
    for (let n = 0; n < 40; n += 1) ids.push(...(await appendMany(10)));
    while (seen.length < ids.length) seen.push(...((await following.next()).value ?? []));
    expect(idsOf(seen)).toEqual(ids);
    await following.return?.();
  });

  test('reads no pages for events that its subscription delivers', async ({ appendOne, log, untilLive }) => {
    await using follower = startFollowing(log, await log.head());
    await untilLive();
    await appendOne();
    await follower.until((seen) => seen.length === 1);
    using pages = vi.spyOn(EventStoreDBClient.prototype, 'readAll');
    const startedAtMs = performance.now();
    for (let n = 2; n <= 40; n += 1) {
      await appendOne();
      await follower.until((seen) => seen.length === n);
    }
    // A follower regularly checks that the log still has the known events.
    const unasked = Math.ceil((performance.now() - startedAtMs) / POLL_MS) + 1;
    expect(pages.mock.calls.length).toBeLessThanOrEqual(unasked);
  });

  test('skips and repeats nothing if its subscription begins on a server that lags', async ({
    appendMany,
    appendOne,
    log,
    standIn,
    untilLive,
  }) => {
    await using follower = startFollowing(log, await log.head());
    const ids = await appendMany(5);
    await follower.until((seen) => seen.length === 5);
    await untilLive();
    standIn.lag(3);
    standIn.endSubscriptions('too-slow');
    await untilLive();
    standIn.catchUp();
    ids.push(await appendOne());
    expect(idsOf(await follower.until((seen) => seen.length >= 6))).toEqual(ids);
  });

  test.for([998, 999, 1_000, 1_001, 2_000])(
    'gets %s events completely, however pages are cut',
    async (count, { appendMany, log }) => {
      const before = await log.head();
      const ids = await appendMany(count);
      await using fromStart = startFollowing(log, START);
      await using fromHead = startFollowing(log, before);
      expect(idsOf(await fromStart.until((seen) => seen.length >= count))).toEqual(ids);
      expect(idsOf(await fromHead.until((seen) => seen.length >= count))).toEqual(ids);
    },
  );

  test.for([
    ['fail at once', { kind: 'error', afterEvents: 0 }],
    ['fail in the middle', { kind: 'error', afterEvents: 5 }],
    ['end early', { kind: 'cut', afterEvents: 5 }],
    ['stay unanswered', { kind: 'unanswered' }],
  ] as const)(
    'goes on behind its last event when pages %s',
    async ([_what, fault], { appendMany, log, standIn }) => {
      const before = await log.head();
      const ids = await appendMany(50);
      standIn.faults.reads(fault, { ...ALL, times: 3 });
      await using follower = startFollowing(log, before);
      expect(idsOf(await follower.until((seen) => seen.length >= 50))).toEqual(ids);
    },
  );

  test('reads large events in pages that fit into memory', async ({ log, standIn }) => {
    const before = await log.head();
    const text = 'x'.repeat(1_000_000);
    // A megabyte takes its time.
    await using patient = await openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address });
    for (let n = 0; n < 40; n += 1) await patient.append(aStream(), NO_STREAM, [anEvent({ n, text })]);
    const pages: number[] = [];
    for await (const events of patient.follow(before, new AbortController().signal)) {
      pages.push(events.length);
      if (pages.reduce((sum, length) => sum + length, 0) === 40) break;
    }
    expect(Math.max(...pages)).toBeLessThanOrEqual(18);
  });

  test('skips the server’s own records, without reading them again', async ({
    appendOne,
    client,
    log,
    standIn,
    untilLive,
  }) => {
    const before = await log.head();
    for (let n = 0; n < 60; n += 1) await client.setStreamMetadata(`noise-${n}`, { maxAge: 3_600 });
    await client.appendToStream('$noise', jsonEvent({ type: 'noise', data: {} }), {
      expectedRevision: NO_STREAM_YET,
    });
    await using follower = startFollowing(log, before);
    await untilLive();
    // From its position, a page of two records is enough; from its start, it would not be.
    standIn.faults.reads({ kind: 'cut', afterEvents: 2 }, { ...ALL, times: 20 });
    const id = await appendOne();
    expect(idsOf(await follower.until((seen) => seen.length >= 1))).toEqual([id]);
    expect(standIn.faults.pending()).toBeGreaterThan(10);
    standIn.faults.clear();
  });

  test('never delivers the event that names the log', async ({ appendOne, log }) => {
    const id = await appendOne();
    await using follower = startFollowing(log, START);
    expect(idsOf(await follower.until((seen) => seen.length >= 1))).toEqual([id]);
  });

  test('fails if its position belongs to another log', async ({ appendMany, followToTheEnd, log }) => {
    const first = await log.head();
    await appendMany(3);
    await expect(followToTheEnd((first + 1) as Position)).rejects.toThrow('is it one of another log?');
  });

  test('fails without access', async ({ followToTheEnd, standIn }) => {
    standIn.faults.reads({ kind: 'access-denied' }, ALL);
    await expect(followToTheEnd(START)).rejects.toThrow('EventStoreDB refused to read on from position 0');
  });

  test.for<[string, (standIn: EventStoreStandIn) => unknown]>([
    ['a page stays unanswered', ({ faults }) => faults.reads({ kind: 'unanswered' }, ALL)],
    ['the server is away', (standIn) => standIn.stop()],
  ])('returns at once when it is aborted while %s', async ([_what, disturb], { standIn }) => {
    const patient = await openEventStoreEventLog({
      clock: REAL_TIME,
      url: standIn.address,
      timing: { ...TIMING, silenceMaxMs: 60_000 },
    });
    await disturb(standIn);
    const stopped = new AbortController();
    const following = Array.fromAsync(patient.follow(START, stopped.signal));
    await new Promise(setImmediate);
    const abortedAtMs = Date.now();
    stopped.abort();
    expect(await following).toEqual([]);
    expect(Date.now() - abortedAtMs).toBeLessThan(scaled(1_000));
    await patient[Symbol.asyncDispose]();
  });

  test('ends when its log is closed, and leaves no subscription behind', async ({ standIn, untilLive }) => {
    const closing = await openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address, timing: TIMING });
    const following = Array.fromAsync(closing.follow(START, new AbortController().signal));
    const refused = expect(following).rejects.toThrow(LogUnavailable);
    await untilLive();
    await closing[Symbol.asyncDispose]();
    await refused;
    await vi.waitFor(() => expect(standIn.liveSubscriptions()).toBe(0), {
      timeout: scaled(5_000),
      interval: 5,
    });
  });
});
