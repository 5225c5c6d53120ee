import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { type EventLog, NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { openEventStoreEventLog } from '#shared/event-log/eventstoredb/eventstore-event-log.ts';
import { type EventStoreProcess, startEventStoreProcess } from '../engines/eventstoredb/process.ts';
import { anEvent, aStream, readAll, startFollowing } from './event-log-engine.ts';

/** The faults of eventstoredb/README.md, applied to a process that stores its log in a file. */

const TIMING = { retryBudgetMs: 10_000, answerWithinMs: 400, silenceMaxMs: 400 };
const WRITERS = 64;

test.each(['SIGKILL', 'SIGTERM'] as const)(
  '%s in the midst of appends: after the start each is in the log exactly once',
  async (signal) => {
    await using server = await startServer();
    await using log = await openEventStoreEventLog({ url: server.address, timing: TIMING });
    await using follower = startFollowing(log, START);
    const ids = await appendWhile(log, async () => {
      await server.current().signal(signal);
      await server.start();
    });
    expect(
      (await follower.until((seen) => seen.length >= ids.length)).map(({ id }) => id).toSorted(),
    ).toEqual(ids.toSorted());
  },
);

test.each([100, 1_000])(
  'SIGSTOP for %s ms during appends: none fails, each is in the log exactly once',
  async (stoppedMs) => {
    await using server = await startServer();
    await using log = await openEventStoreEventLog({ url: server.address, timing: TIMING });
    await using follower = startFollowing(log, START);
    const ids = await appendWhile(log, async () => {
      await server.current().signal('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, stoppedMs));
      await server.current().signal('SIGCONT');
    });
    expect(
      (await follower.until((seen) => seen.length >= ids.length)).map(({ id }) => id).toSorted(),
    ).toEqual(ids.toSorted());
  },
);

test('a server that hangs and dies with megabytes in flight leaves the process alive', async () => {
  await using server = await startServer();
  await using log = await openEventStoreEventLog({
    url: server.address,
    timing: { ...TIMING, answerWithinMs: 5_000 },
  });
  await server.current().signal('SIGSTOP');
  const streams = Array.from({ length: 128 }, () => aStream());
  const text = 'x'.repeat(100_000);
  const appends = Promise.all(streams.map((stream) => log.append(stream, NO_STREAM, [anEvent({ text })])));
  await new Promise((resolve) => setTimeout(resolve, 200));
  await server.current().signal('SIGKILL');
  await server.start();
  expect(new Set((await appends).map(({ version }) => version))).toEqual(new Set([1]));
  for (const stream of streams) expect(await readAll(log, stream)).toHaveLength(1);
});

test('a server that hangs for longer than the retry budget is reported, and the append is found by its ids when it is back', async () => {
  await using server = await startServer();
  await using log = await openEventStoreEventLog({
    url: server.address,
    timing: { ...TIMING, retryBudgetMs: 600 },
  });
  const stream = aStream();
  const events = [anEvent()];
  await server.current().signal('SIGSTOP');
  await expect(log.append(stream, NO_STREAM, events)).rejects.toThrow(LogUnavailable);
  await server.current().signal('SIGCONT');
  expect(await log.append(stream, NO_STREAM, events)).toMatchObject({ version: 1 });
  expect(await readAll(log, stream)).toHaveLength(1);
});

/** Appends with many writers, and disturbs the server after a third. */
const appendWhile = async (log: EventLog, disturb: () => Promise<void>): Promise<readonly string[]> => {
  const ids: string[] = [];
  const third = Promise.withResolvers<void>();
  const write = async () => {
    for (let n = 0; n < 15; n += 1) {
      const event = anEvent();
      await log.append(aStream(), NO_STREAM, [event]);
      ids.push(event.id);
      if (ids.length === WRITERS * 5) third.resolve();
    }
  };
  await Promise.all([...Array.from({ length: WRITERS }, write), third.promise.then(disturb)]);
  return ids;
};

/** Consecutive servers on the same file and port. */
const startServer = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-test-eventstore-'));
  const data = join(folder, 'log');
  let current: EventStoreProcess = await startEventStoreProcess({ data });
  return {
    address: current.address,
    current: () => current,
    async start() {
      current = await startEventStoreProcess({ data, port: current.port });
    },
    async [Symbol.asyncDispose]() {
      await current[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
