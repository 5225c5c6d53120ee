import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EventId, Position, StreamName, Version } from '#shared/brands.ts';
import { LogUnavailable, StaleVersion } from '../errors.ts';
import { type ExpectedVersion, NO_STREAM } from '../event-log.ts';
import { GroupCommit, type ProposedAppend, type StoreBatch } from './group-commit.ts';

const one = { version: 1 as Version, position: 1 as Position };
const propose = (stream: string, expected: ExpectedVersion = NO_STREAM, bytes = 2): ProposedAppend => ({
  stream: stream as StreamName,
  expected,
  events: [{ id: randomUUID() as EventId, type: 'thing.noted', data: '{}', metadata: '{}', bytes }],
});

class Passing extends Error {}

const commitInto = (store: StoreBatch, patienceMs = 5_000) =>
  new GroupCommit({ store, patienceMs, isPassing: (error) => error instanceof Passing });

/** Notes the streams of every batch and stores them all. */
const noting =
  (batches: string[][]): StoreBatch =>
  async (batch) => {
    batches.push(batch.map(({ stream }) => stream));
    return batch.map(() => one);
  };

test('appends of one turn share a transaction, and a lone one goes at once', async () => {
  const batches: string[][] = [];
  await using commits = commitInto(noting(batches));
  await commits.append(propose('a-1'));
  await Promise.all(['a-2', 'a-3', 'a-4'].map((stream) => commits.append(propose(stream))));
  expect(batches).toEqual([['a-1'], ['a-2', 'a-3', 'a-4']]);
});

test('what arrives while a transaction is in flight goes into the next, and never into a second one beside it', async () => {
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
  await Promise.all(Array.from({ length: 20 }, (_, n) => commits.append(propose(`a-${n}`, NO_STREAM, 1_000_000))));
  expect(batches.map((batch) => batch.length)).toEqual([8, 8, 4]);
});

test('one that cannot be stored fails alone', async () => {
  await using commits = commitInto(async (batch) => {
    if (batch.some(({ stream }) => stream === 'bad-1')) throw new RangeError('out of range');
    return batch.map(() => one);
  });
  const outcomes = await Promise.allSettled(['a-1', 'bad-1', 'a-2'].map((stream) => commits.append(propose(stream))));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('an expectation that does not hold is refused alone', async () => {
  await using commits = commitInto(async (batch) => batch.map(({ stream }) => (stream === 'stale-1' ? undefined : one)));
  const [fine, stale] = await Promise.allSettled([commits.append(propose('a-1')), commits.append(propose('stale-1'))]);
  expect(fine).toMatchObject({ status: 'fulfilled', value: one });
  expect(stale).toMatchObject({ status: 'rejected', reason: expect.any(StaleVersion) });
});

test('a passing failure is tried again with the same events, in the same order', async () => {
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

test('patience ends', async () => {
  await using commits = commitInto(() => Promise.reject(new Passing('away')), 50);
  await expect(commits.append(propose('a-1'))).rejects.toThrow(LogUnavailable);
});

test('disposal finishes what waits and refuses what comes after', async () => {
  const batches: string[][] = [];
  const commits = commitInto(noting(batches));
  const waiting = commits.append(propose('a-1'));
  await commits[Symbol.asyncDispose]();
  await expect(waiting).resolves.toEqual(one);
  await expect(commits.append(propose('a-2'))).rejects.toThrow(LogUnavailable);
});
