// Over 200 lines, because every fault is tried on the one stand-in that is set up here.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, vi } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { LogUnavailable, StaleVersion } from '#shared/event-log/errors.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { ours } from '../engines/eventstoredb/ours.ts';
import { startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { test as base } from '../engines/eventstoredb-fixture.ts';
import { anEvent, aStream, readAll, version } from './event-log-engine.ts';

/**
 * Each pitfall of notes/event-log.md and of eventstoredb/README.md for appends and reads; followers have a
 * file of their own.
 */

const TIMING = { retryBudgetMs: 5_000, answerWithinMs: 200, silenceMaxMs: 200 };
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

const test = base
  .extend('logOptions', { scope: 'file' }, { timing: TIMING })
  .extend(
    'open',
    { scope: 'file' },
    ({ standIn }) =>
      (timing = TIMING) =>
        openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address, timing }),
  )
  .extend(
    'idsIn',
    { scope: 'file' },
    ({ log }) =>
      async (stream: ReturnType<typeof aStream>) =>
        (await readAll(log, stream)).map(({ id }) => id),
  )
  .extend(
    'deleted',
    { scope: 'file' },
    ({ log, standIn }) =>
      async (how: 'deleteStream' | 'tombstoneStream') => {
        const { EventStoreDBClient } = await import('@eventstore/db-client');
        const client = EventStoreDBClient.connectionString(standIn.address);
        const stream = aStream();
        await log.append(stream, NO_STREAM, [anEvent(), anEvent()]);
        await client[how](ours(stream));
        await client.dispose();
        return stream;
      },
  );
test.afterEach(({ standIn }) => {
  expect(standIn.faults.pending()).toBe(0);
});

const outcomesOf = async (appends: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(appends)).map(({ status }) => status);

describe('an append', () => {
  test.for([
    ['stored', NO_STREAM],
    ['not stored', NO_STREAM],
    ['stored', 'any'],
    ['not stored', 'any'],
    ['stored', version(1)],
    ['not stored', version(1)],
  ] as const)(
    'that stays unanswered, and was %s, is stored once (expecting %s)',
    async ([stored, expected], { log, standIn }) => {
      const stream = aStream();
      if (expected !== NO_STREAM) await log.append(stream, NO_STREAM, [anEvent()]);
      const events = [anEvent(), anEvent()];
      standIn.faults.appends({ kind: 'unanswered', stored: stored === 'stored' }, { stream });
      const appended = await log.append(stream, expected, events);
      const recorded = await readAll(log, stream);
      expect(recorded.slice(-2).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
      expect(recorded).toHaveLength(expected === NO_STREAM ? 2 : 3);
      expect(appended).toEqual({ version: recorded.at(-1)?.version, position: recorded.at(-1)?.position });
    },
  );

  test.for(['stored', 'not stored'])(
    'past the deadline of the server, and %s, is stored once',
    async (stored, { idsIn, log, standIn }) => {
      const stream = aStream();
      const event = anEvent();
      standIn.faults.appends({ kind: 'timeout', stored: stored === 'stored' }, { stream });
      await expect(log.append(stream, NO_STREAM, [event])).resolves.toMatchObject({ version: 1 });
      expect(await idsIn(stream)).toEqual([event.id]);
    },
  );

  test('at any version is found again behind later appends of others', async ({ idsIn, log, standIn }) => {
    const stream = aStream();
    const event = anEvent();
    standIn.faults.appends({ kind: 'delayed', delayMs: 500 }, { stream });
    const late = log.append(stream, 'any', [event]);
    await vi.waitFor(async () => expect(await idsIn(stream)).toHaveLength(1), scaled(1_000));
    await log.append(stream, 'any', [anEvent()]);
    expect(await late).toMatchObject({ version: 1 });
    expect(await idsIn(stream)).toHaveLength(2);
  });

  test('at any version is not sent again once found: a restarted server would not know its ids', async ({
    log,
    standIn,
  }) => {
    const stream = aStream();
    standIn.faults.appends({ kind: 'unanswered', stored: true }, { stream });
    standIn.faults.appends({ kind: 'without-position' }, { stream });
    await expect(log.append(stream, 'any', [anEvent()])).resolves.toMatchObject({ version: 1 });
    expect(standIn.faults.pending()).toBe(1);
    standIn.faults.clear();
  });

  test('at any version with a known event and a new one is refused after its first answer was lost', async ({
    idsIn,
    log,
    standIn,
  }) => {
    const stream = aStream();
    const known = anEvent();
    await log.append(stream, NO_STREAM, [known]);
    standIn.faults.appends({ kind: 'unanswered', stored: false }, { stream });
    await expect(log.append(stream, 'any', [known, anEvent()])).rejects.toThrow(StaleVersion);
    expect(await idsIn(stream)).toEqual([known.id]);
  });

  test('is not disturbed by the end of a replaced client', async ({ log, open, standIn }) => {
    await using other = await open({ ...TIMING, answerWithinMs: 2_000 });
    const [silent, slow] = [aStream('silent'), aStream('slow')];
    standIn.faults.appends({ kind: 'unanswered', stored: true }, { stream: silent });
    standIn.faults.appends({ kind: 'delayed', delayMs: 500 }, { stream: slow });
    standIn.faults.appends({ kind: 'without-position' }, { stream: slow });
    await Promise.all([
      log.append(silent, NO_STREAM, [anEvent()]),
      other.append(slow, NO_STREAM, [anEvent()]),
    ]);
    // Sent once, so the second fault hit nobody.
    expect(standIn.faults.pending()).toBe(1);
    standIn.faults.clear();
  });

  test('that was refused stays refused after its first answer was lost', async ({ log, standIn }) => {
    const stream = aStream();
    await log.append(stream, NO_STREAM, [anEvent()]);
    standIn.faults.appends({ kind: 'unanswered', stored: true }, { stream });
    await expect(log.append(stream, NO_STREAM, [anEvent()])).rejects.toThrow(StaleVersion);
  });

  test('succeeds although the failure of another log of this process rejects it', async ({
    idsIn,
    log,
    open,
    standIn,
  }) => {
    await using other = await open();
    const [breaking, waiting] = [aStream('breaking'), aStream('waiting')];
    standIn.faults.appends({ kind: 'delayed', delayMs: 100 }, { stream: waiting });
    standIn.faults.appends({ kind: 'stream-error', stored: true }, { stream: breaking });
    const appends = [
      log.append(waiting, NO_STREAM, [anEvent()]),
      other.append(breaking, NO_STREAM, [anEvent()]),
    ];
    expect(await outcomesOf(appends)).toEqual(['fulfilled', 'fulfilled']);
    expect([await idsIn(waiting), await idsIn(breaking)].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('that is answered twice leaves the process alive and the log able to append', async ({
    idsIn,
    log,
    standIn,
  }) => {
    const stream = aStream();
    standIn.faults.appends({ kind: 'answered-twice' }, { stream, times: 3 });
    for (const at of [0, 1, 2, 3]) await log.append(stream, version(at), [anEvent()]);
    expect(await idsIn(stream)).toHaveLength(4);
  });

  test('that is answered without a position returns the stored one', async ({ log, standIn }) => {
    const stream = aStream();
    standIn.faults.appends({ kind: 'without-position' }, { stream, times: 2 });
    const events = [anEvent(), anEvent(), anEvent()];
    const appended = await log.append(stream, NO_STREAM, events);
    expect(appended).toEqual({ version: 3, position: (await readAll(log, stream))[2]?.position });
    expect(await log.append(stream, NO_STREAM, events)).toEqual(appended);
  });

  test('without access is refused at once', async ({ log, standIn }) => {
    const stream = aStream();
    standIn.faults.appends({ kind: 'access-denied' }, { stream });
    await expect(log.append(stream, NO_STREAM, [anEvent()])).rejects.toThrow(
      `EventStoreDB refused an append to ${stream}: access-denied`,
    );
  });
});

describe('a stream that was deleted manually', () => {
  test('permanently accepts nothing and cannot be read', async ({ deleted, log }) => {
    const stream = await deleted('tombstoneStream');
    const isGone = `${stream} lacks all its versions`;
    await expect(log.append(stream, version(2), [anEvent()])).rejects.toThrow(isGone);
    await expect(readAll(log, stream)).rejects.toThrow(isGone);
  });

  test('softly is refused with its next version, and never read from its middle', async ({
    deleted,
    log,
  }) => {
    const stream = await deleted('deleteStream');
    await expect(readAll(log, stream)).rejects.toThrow(`${stream} lacks all its versions`);
    await expect(log.append(stream, NO_STREAM, [anEvent()])).rejects.toThrow(
      'was the stream deleted manually?',
    );
    await expect(readAll(log, stream)).rejects.toThrow(`${stream} lacks versions 1–2`);
  });
});

describe('a read', () => {
  test.for([
    ['fails in the middle', { kind: 'error', afterEvents: 2 }],
    ['stays unanswered', { kind: 'unanswered' }],
  ] as const)('that %s is read again', async ([_what, fault], { log, standIn }) => {
    const stream = aStream();
    await log.append(stream, NO_STREAM, [anEvent(), anEvent(), anEvent()]);
    standIn.faults.reads(fault, { stream });
    expect(await readAll(log, stream)).toHaveLength(3);
    standIn.faults.reads(fault, { stream: '$all' });
    expect(await log.head()).toBeGreaterThan(START);
  });

  test('that was under way when its client was replaced is complete', async ({ open, standIn }) => {
    await using replacing = await open({ retryBudgetMs: 5_000, answerWithinMs: 2_000, silenceMaxMs: 2_000 });
    const stream = aStream();
    await replacing.append(stream, NO_STREAM, [anEvent(), anEvent(), anEvent()]);
    standIn.faults.reads({ kind: 'unanswered' }, { stream });
    const reading = readAll(replacing, stream);
    await until(
      () => standIn.faults.pending(),
      (left) => left === 0,
    );
    // Its client leaves the node, and takes the read along.
    standIn.faults.appends({ kind: 'not-now', says: 'Server Is Not Ready' }, { times: 1_000 });
    const appended = replacing.append(aStream(), NO_STREAM, [anEvent()]);
    const calls = standIn.appendCalls();
    await until(
      () => standIn.appendCalls(),
      (made) => made > calls,
    );
    standIn.faults.clear();
    expect(await reading).toHaveLength(3);
    expect(await appended).toMatchObject({ version: 1 });
  });

  test('without access is refused at once', async ({ log, standIn }) => {
    standIn.faults.reads({ kind: 'access-denied' }, { stream: '$all' });
    await expect(log.head()).rejects.toThrow('EventStoreDB refused a read of $all');
  });
});

describe('a server', () => {
  test('that is stopped for a moment delays appends and reads, without loss or repetition', async ({
    idsIn,
    log,
    standIn,
  }) => {
    const streams = Array.from({ length: 16 }, () => aStream());
    standIn.pause();
    const appends = streams.map((stream) => log.append(stream, NO_STREAM, [anEvent()]));
    const head = log.head();
    setTimeout(() => standIn.resume(), 700);
    expect(new Set(await outcomesOf(appends))).toEqual(new Set(['fulfilled']));
    expect(await head).toBeGreaterThan(START);
    for (const stream of streams) expect(await idsIn(stream)).toHaveLength(1);
  });

  test('that is unavailable is waited for', async ({ log, standIn }) => {
    await standIn.stop();
    const stream = aStream();
    const appends = [NO_STREAM, version(1)].map((expected) =>
      log.append(expected === NO_STREAM ? stream : aStream(), expected, [anEvent()]),
    );
    setTimeout(() => standIn.restart(), 300);
    const [stored, refused] = await Promise.allSettled(appends);
    expect(stored).toMatchObject({ status: 'fulfilled', value: { version: 1 } });
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'stale_version' } });
  });

  test('that stays away is reported when the retry budget ends, for appends, reads and opening', async ({
    open,
    standIn,
  }) => {
    await using impatient = await open({ ...TIMING, retryBudgetMs: 300 });
    await standIn.stop();
    await expect(impatient.append(aStream(), NO_STREAM, [anEvent()])).rejects.toThrow(LogUnavailable);
    await expect(impatient.head()).rejects.toThrow(LogUnavailable);
    await expect(readAll(impatient, aStream())).rejects.toThrow(LogUnavailable);
    await expect(open({ ...TIMING, retryBudgetMs: 300 })).rejects.toThrow(LogUnavailable);
    await standIn.restart();
    // On a busy machine it may be unavailable for longer once more.
    const [stream, event] = [aStream(), anEvent()];
    const append = () => impatient.append(stream, NO_STREAM, [event]).catch((error: unknown) => error);
    expect(await until(append, (outcome) => !(outcome instanceof LogUnavailable))).toMatchObject({
      version: 1,
    });
  });

  test('that dies while megabytes wait to be sent leaves the process alive', async ({
    idsIn,
    open,
    standIn,
  }) => {
    const text = 'x'.repeat(100_000);
    const streams = Array.from({ length: 64 }, () => aStream());
    // Megabytes take their time on a busy machine.
    await using patient = await open({
      retryBudgetMs: scaled(10_000),
      answerWithinMs: scaled(3_000),
      silenceMaxMs: scaled(5_000),
    });
    const appends = streams.map((stream) => patient.append(stream, NO_STREAM, [anEvent({ text })]));
    await standIn.restart();
    expect(new Set(await outcomesOf(appends))).toEqual(new Set(['fulfilled']));
    for (const stream of streams) expect(await idsIn(stream)).toHaveLength(1);
  });
});

describe('a closed log', () => {
  test('finishes pending appends, and accepts no more', async ({ open, standIn }) => {
    const closing = await open();
    const stream = aStream();
    standIn.faults.appends({ kind: 'delayed', delayMs: 50 }, { stream });
    const waiting = closing.append(stream, NO_STREAM, [anEvent()]);
    await closing[Symbol.asyncDispose]();
    expect(await waiting).toMatchObject({ version: 1 });
    await expect(closing.append(aStream(), NO_STREAM, [anEvent()])).rejects.toThrow(LogUnavailable);
    await expect(closing.head()).rejects.toThrow(LogUnavailable);
  });

  test('lets its process end', async ({ standIn }) => {
    const script = `import { REAL_TIME } from '#shared/clock/real-time.ts';
      import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
      const log = await openEventStoreEventLog({ clock: REAL_TIME, url: '${standIn.address}' });
      const stopped = new AbortController();
      const following = (async () => { for await (const _ of log.follow(0, stopped.signal)) stopped.abort(); })();
      await log.append('thing-${randomUUID()}', 0, [{ id: '${randomUUID()}', type: 'thing.noted', data: {}, metadata: {} }]);
      await following;
      await log[Symbol.asyncDispose]();
      console.log('closed');`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: PROJECT,
      timeout: scaled(10_000),
    });
    expect(stdout).toBe('closed\n');
  });
});

test('opened in parallel for the first time, a log has one identity', async () => {
  await using fresh = await startEventStoreStandIn();
  const logs = await Promise.all(
    Array.from({ length: 8 }, () =>
      openEventStoreEventLog({ clock: REAL_TIME, url: fresh.address, timing: TIMING }),
    ),
  );
  expect(new Set(logs.map(({ identity }) => identity)).size).toBe(1);
  await Promise.all(logs.map((each) => each[Symbol.asyncDispose]()));
});
