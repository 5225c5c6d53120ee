// Over 200 lines, because every outage is tried on the one stand-in that is set up here.
import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AllStreamSubscription,
  ANY,
  type AppendResult,
  END,
  EventStoreDBClient,
  jsonEvent,
  type Position,
  START,
} from '@eventstore/db-client';
import { describe, expect, vi } from 'vitest';
import { scaled } from '../../testing/load.ts';
import { startEventStoreProcess } from '../engines/eventstoredb/process.ts';
import { test as base, openClient } from '../engines/eventstoredb-fixture.ts';

const DEADLINE = { timeout: scaled(10_000), interval: 10 };
const SHORT_MS = 200;
const TOO_SLOW_LIVE =
  '10 ABORTED: Operation timed out: Consumer too slow to handle event while live. Client resubscription required.';
const TOO_SLOW_TRANSITION =
  '10 ABORTED: Operation timed out: Consumer too slow while transitioning to live. Client resubscription required.';

// After an UnavailableError a client keeps its old append call beside the new one, and its later errors are
// the old call's.
const test = base
  .extend('standInOptions', { scope: 'file' }, { liveLagMax: 32 })
  .extend('client', openClient)
  .extend(
    'append',
    ({ client }) =>
      (stream: string, count = 1, text = '', by = client): Promise<AppendResult> =>
        by.appendToStream(
          stream,
          Array.from({ length: count }, (_, n) => jsonEvent({ type: 'Noted', data: { n, text } })),
          { expectedRevision: ANY },
        ),
  )
  /** Live according to the stand-in, before the client has read that it caught up. */
  .extend('subscribedLive', ({ client, standIn }) => async (): Promise<AllStreamSubscription> => {
    const before = standIn.liveSubscriptions();
    const subscription = client.subscribeToAll({ fromPosition: END });
    await vi.waitFor(() => expect(standIn.liveSubscriptions()).toBe(before + 1), DEADLINE);
    return subscription;
  });
test.beforeEach(({ append }) => append(newStream()));
test.afterEach(({ standIn }) => {
  expect(standIn.faults.pending()).toBe(0);
  standIn.faults.clear();
});

const newStream = () => `stand-in-${randomUUID()}`;
/** Reads to the end and returns the number of items and the outcome. */
const follow = async (items: AsyncIterable<unknown>): Promise<{ count: number; error?: unknown }> => {
  let count = 0;
  try {
    for await (const _ of items) count += 1;
    return { count };
  } catch (error) {
    return { count, error };
  }
};
const settledWithin = (promise: Promise<unknown>, deadlineMs: number): Promise<boolean> =>
  Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(resolve, deadlineMs, false)),
  ]);

describe('a subscription', () => {
  test('can be dropped in place of the next live event', async ({ append, standIn, subscribedLive }) => {
    const subscription = await subscribedLive();
    const followed = follow(subscription);
    await append(newStream(), 2);
    standIn.faults.subscriptions({ kind: 'too-slow', at: 'live' });
    await append(newStream());
    expect(await followed).toMatchObject({
      count: 2,
      error: { type: 'timeout', code: 10, message: TOO_SLOW_LIVE },
    });
  });

  test('can be dropped during its transition to live', async ({ client, standIn }) => {
    standIn.faults.subscriptions({ kind: 'too-slow', at: 'transition' });
    expect(await follow(client.subscribeToAll({ fromPosition: START }))).toMatchObject({
      error: { type: 'timeout', message: TOO_SLOW_TRANSITION },
    });
  });

  test.for(['live', 'transition'] as const)(
    'may end silently (%s): the loop just finishes',
    async (at, { append, client, standIn, subscribedLive }) => {
      standIn.faults.subscriptions({ kind: 'silent-end', at });
      const followed =
        at === 'live' ? follow(await subscribedLive()) : follow(client.subscribeToAll({ fromPosition: END }));
      await append(newStream());
      expect(await followed).toEqual({ count: 0 });
    },
  );

  test('can be refused', async ({ client, standIn }) => {
    standIn.faults.subscriptions({ kind: 'access-denied', at: 'start' });
    expect(await follow(client.subscribeToAll())).toMatchObject({
      count: 0,
      error: { type: 'access-denied' },
    });
  });

  test.for(['too-slow', 'silent-end'] as const)(
    'may be ended at once (%s)',
    async (how, { standIn, subscribedLive }) => {
      const followed = follow(await subscribedLive());
      expect(standIn.endSubscriptions(how)).toBe(1);
      expect(await followed).toMatchObject(
        how === 'too-slow' ? { error: { message: TOO_SLOW_LIVE } } : { count: 0 },
      );
      expect(standIn.liveSubscriptions()).toBe(0);
    },
  );

  test('is dropped when its reader lags too far, and resumes without loss after the last handled event', async ({
    append,
    client,
    standIn,
    subscribedLive,
  }) => {
    const subscription = await subscribedLive();
    const stream = newStream();
    const handled: bigint[] = [];
    let resumeAfter: Position | typeof START = START;
    const take = async (events: AllStreamSubscription, until: number, isReady?: Promise<void>) => {
      for await (const { event } of events) {
        await isReady;
        if (event?.streamId !== stream) continue;
        handled.push(event.revision);
        resumeAfter = event.position ?? resumeAfter;
        if (handled.length === until) break;
      }
    };
    const dropped = Promise.withResolvers<void>();
    // The reader iterates from the beginning: nobody else would catch the error of the subscription.
    const failed = expect(
      take(subscription, Number.POSITIVE_INFINITY, dropped.promise),
    ).rejects.toMatchObject({
      type: 'timeout',
      message: TOO_SLOW_LIVE,
    });
    let written = 0;
    for (; standIn.liveSubscriptions() > 0 && written < 10_000; written += 50)
      await append(stream, 50, 'x'.repeat(1_000));
    expect(standIn.liveSubscriptions()).toBe(0);
    dropped.resolve();
    await failed;
    await take(client.subscribeToAll({ fromPosition: resumeAfter }), written);
    expect(handled).toEqual(Array.from({ length: written }, (_, n) => BigInt(n)));
  });
});

describe('the server', () => {
  test('that loses its connections fails calls in flight, keeps stored events and continues to serve', async ({
    append,
    standIn,
    subscribedLive,
  }) => {
    const stream = newStream();
    standIn.faults.appends({ kind: 'unanswered', stored: true }, { stream });
    const waiting = append(stream);
    const followed = follow(await subscribedLive());
    const failed = expect(waiting).rejects.toMatchObject({ type: 'unavailable', code: 14 });
    await vi.waitFor(() => expect(standIn.faults.pending()).toBe(0), DEADLINE);
    expect(standIn.dropConnections()).toBeGreaterThan(0);
    await failed;
    expect(await followed).toMatchObject({ error: { type: 'unavailable' } });
    await vi.waitFor(
      async () => expect(await append(stream)).toMatchObject({ nextExpectedRevision: 1n }),
      DEADLINE,
    );
  });

  test('that is stopped refuses connections, and restarted on its port has everything again', async ({
    append,
    standIn,
  }) => {
    const stream = newStream();
    await append(stream);
    await standIn.stop();
    await vi.waitFor(
      () =>
        expect(append(stream)).rejects.toMatchObject({
          code: 14,
          message: expect.stringContaining('No connection established'),
        }),
      DEADLINE,
    );
    await standIn.restart();
    await vi.waitFor(
      async () => expect(await append(stream)).toMatchObject({ nextExpectedRevision: 1n }),
      DEADLINE,
    );
  });

  test('that is paused answers later, and refuses calls past their deadline', async ({
    append,
    client,
    standIn,
  }) => {
    const stream = newStream();
    standIn.pause();
    const patient = append(stream);
    const hasty = client.appendToStream(newStream(), jsonEvent({ type: 'Noted', data: {} }), {
      deadline: SHORT_MS / 2,
    });
    expect(await settledWithin(Promise.allSettled([patient, hasty]), SHORT_MS)).toBe(false);
    standIn.resume();
    expect(await patient).toMatchObject({ success: true });
    await expect(hasty).rejects.toMatchObject({ type: 'deadline-exceeded' });
  });

  test('that is killed has everything acknowledged in its journal, and drops a torn line', async ({
    append,
  }) => {
    const folder = await mkdtemp(join(tmpdir(), 'eventstoredb-stand-in-'));
    const data = join(folder, 'journal');
    const stream = newStream();
    const first = await startEventStoreProcess({ data });
    const before = EventStoreDBClient.connectionString(first.address);
    await append(stream, 3, 'kept', before);
    await before.tombstoneStream('gone');
    const last = await append(stream, 1, 'kept', before);
    await first.signal('SIGKILL');
    await before.dispose();
    await appendFile(data, '[{"kind":"event","torn');

    await using second = await startEventStoreProcess({ data, port: first.port });
    const after = EventStoreDBClient.connectionString(second.address);
    expect(await follow(after.readStream(stream))).toEqual({ count: 4 });
    await expect(append('gone', 1, '', after)).rejects.toMatchObject({ type: 'stream-deleted' });
    const next = await append(stream, 1, '', after);
    expect(next.nextExpectedRevision).toBe(4n);
    expect(next.position?.commit).toBeGreaterThan(last.position?.commit ?? 0n);
    await after.dispose();
    await second.signal('SIGTERM');
    expect(second.exitCode()).toBe(0);
    await rm(folder, { recursive: true });
  });
});
