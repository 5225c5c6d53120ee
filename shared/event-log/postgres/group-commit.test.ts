// Over 200 lines, because it is one list: which appends share a transaction, and what happens to them if it
// fails.
import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { LogUnavailable, StaleVersion } from '../errors.ts';
import { type ExpectedVersion, NO_STREAM } from '../event-log.ts';
import { GroupCommit, type ProposedAppend, type StoreBatch } from './group-commit.ts';

const one = { version: 1 as Version, position: 1 as Position };
const propose = (stream: string, expected: ExpectedVersion = NO_STREAM, bytes = 2): ProposedAppend => ({
  stream: stream as StreamName,
  expected,
  events: [
    {
      id: randomUUID() as EventId,
      type: 'thing.noted',
      data: '{}',
      metadata: '{}',
      dataBytes: bytes,
      metadataBytes: 0,
      bytes,
    },
  ],
});

class Passing extends Error {}

const commitInto = (store: StoreBatch, retryBudgetMs = 5_000) =>
  new GroupCommit({
    ...{ store, retryBudgetMs, clock: REAL_TIME },
    isPassing: (error) => error instanceof Passing,
  });

/** Records the streams of every batch and stores them all. */
const noting =
  (batches: string[][]): StoreBatch =>
  async (batch) => {
    batches.push(batch.map(({ stream }) => stream));
    return batch.map(() => one);
  };

test('appends of one turn share a transaction, and a single one is sent at once', async () => {
  const batches: string[][] = [];
  await using commits = commitInto(noting(batches));
  await commits.append(propose('a-1'));
  await Promise.all(['a-2', 'a-3', 'a-4'].map((stream) => commits.append(propose(stream))));
  expect(batches).toEqual([['a-1'], ['a-2', 'a-3', 'a-4']]);
});

test('an append that depends on other streams has a transaction of its own, in its turn', async () => {
  const batches: string[][] = [];
  await using commits = commitInto(noting(batches));
  const reads = [{ stream: 'b-1' as StreamName, version: 1 as Version }];
  const reading = (stream: string): ProposedAppend => ({ ...propose(stream), reads });
  const all = [
    propose('a-1'),
    reading('a-2'),
    propose('b-1'),
    reading('a-3'),
    reading('a-4'),
    propose('a-5'),
  ];
  await Promise.all(all.map((each) => commits.append(each)));
  expect(batches).toEqual([['a-1', 'b-1', 'a-5'], ['a-2'], ['a-3'], ['a-4']]);
});

test('appends that arrive during a transaction go into the next, and never into a concurrent one', async () => {
  const batches: string[][] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  await using commits = commitInto(async (batch) => {
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    await new Promise(setImmediate);
    inFlight -= 1;
    return noting(batches)(batch);
  });
  const first = commits.append(propose('a-1'));
  await Promise.resolve();
  await Promise.resolve();
  const rest = ['a-2', 'a-3'].map((stream) => commits.append(propose(stream)));
  await Promise.all([first, ...rest]);
  expect(batches).toEqual([['a-1'], ['a-2', 'a-3']]);
  expect(mostInFlight).toBe(1);
});

test('appends of one stream share a transaction only if all expect any version, and keep their order', async () => {
  const batches: string[][] = [];
  await using commits = commitInto(noting(batches));
  await Promise.all([
    commits.append(propose('a-1')),
    commits.append(propose('a-1', 1 as Version)),
    commits.append(propose('a-1', 'any')),
    commits.append(propose('b-1', 'any')),
    commits.append(propose('b-1', 'any')),
    commits.append(propose('b-1', 1 as Version)),
    commits.append(propose('b-1', 'any')),
  ]);
  expect(batches).toEqual([
    ['a-1', 'b-1', 'b-1'],
    ['a-1', 'b-1'],
    ['a-1', 'b-1'],
  ]);
});

test('a batch is bounded by its bytes', async () => {
  const batches: string[][] = [];
  await using commits = commitInto(noting(batches));
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => commits.append(propose(`a-${n}`, NO_STREAM, 1_000_000))),
  );
  expect(batches.map((batch) => batch.length)).toEqual([8, 8, 4]);
});

test('an append that cannot be stored fails alone', async () => {
  await using commits = commitInto(async (batch) => {
    if (batch.some(({ stream }) => stream === 'bad-1')) throw new RangeError('out of range');
    return batch.map(() => one);
  });
  const outcomes = await Promise.allSettled(
    ['a-1', 'bad-1', 'a-2'].map((stream) => commits.append(propose(stream))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a wrong expectation is refused alone', async () => {
  await using commits = commitInto(async (batch) =>
    batch.map(({ stream }) => (stream === 'stale-1' ? undefined : one)),
  );
  const [fine, stale] = await Promise.allSettled([
    commits.append(propose('a-1')),
    commits.append(propose('stale-1')),
  ]);
  expect(fine).toMatchObject({ status: 'fulfilled', value: one });
  expect(stale).toMatchObject({ status: 'rejected', reason: expect.any(StaleVersion) });
});

test('a passing failure is retried with the same events, in the same order', async () => {
  const tries: string[] = [];
  await using commits = commitInto(async (batch) => {
    tries.push(batch.map(({ events }) => events[0]?.id).join());
    if (tries.length < 3) throw new Passing();
    return batch.map(() => one);
  });
  await Promise.all([commits.append(propose('a-1')), commits.append(propose('a-2'))]);
  expect(tries).toHaveLength(3);
  expect(new Set(tries).size).toBe(1);
});

test('the retry budget ends', async () => {
  await using commits = commitInto(() => Promise.reject(new Passing('away')), 50);
  await expect(commits.append(propose('a-1'))).rejects.toThrow(LogUnavailable);
});

test('the retry budget of waiting appends ends while another batch hangs, and they are not stored later', async () => {
  const batches: string[][] = [];
  const { promise: hanging, resolve: release } = Promise.withResolvers<void>();
  await using commits = commitInto(async (batch) => {
    const outcomes = await noting(batches)(batch);
    if (batches.length === 1) await hanging;
    return outcomes;
  }, 50);
  const outcomes = Promise.allSettled([
    commits.append(propose('a-1', 'any')),
    commits.append(propose('a-1', 1 as Version)),
  ]);
  expect((await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual([
    'log_unavailable',
    'log_unavailable',
  ]);
  release();
  await commits.append(propose('a-2'));
  expect(batches).toEqual([['a-1'], ['a-2']]);
});

test('appends that a passing failure interrupts are retried together, in order', async () => {
  const tries: string[] = [];
  const events = Array.from({ length: 3 }, () => propose('a-1', 'any'));
  const nameOf = (append: ProposedAppend) =>
    events.findIndex(({ events: [first] }) => first?.id === append.events[0]?.id) + 1;
  await using commits = commitInto(async (batch) => {
    tries.push(batch.map(nameOf).join());
    if (tries.length === 1) throw new RangeError('one of them cannot be stored');
    if (tries.length === 2) throw new Passing();
    return batch.map(() => one);
  });
  await Promise.all(events.map((append) => commits.append(append)));
  expect(tries).toEqual(['1,2,3', '1', '1,2,3']);
});

test('the retry budget does not depend on the wall clock', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    let tries = 0;
    await using commits = commitInto(async (batch) => {
      tries += 1;
      vi.setSystemTime(Date.now() + 3_600_000);
      if (tries === 1) throw new Passing();
      return batch.map(() => one);
    });
    expect(await commits.append(propose('a-1'))).toEqual(one);
  } finally {
    vi.useRealTimers();
  }
});

test('disposal finishes waiting appends and refuses later ones', async () => {
  const batches: string[][] = [];
  const commits = commitInto(noting(batches));
  const waiting = commits.append(propose('a-1'));
  await commits[Symbol.asyncDispose]();
  await expect(waiting).resolves.toEqual(one);
  await expect(commits.append(propose('a-2'))).rejects.toThrow(LogUnavailable);
});
