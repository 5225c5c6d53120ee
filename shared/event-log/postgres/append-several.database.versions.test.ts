import { expect } from 'vitest';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { anEvent, aStream } from '../../../test/contracts/event-log-engine.ts';
import { test as base } from '../../../test/engines/pool.ts';
import { InvalidAppend, StaleVersion } from '../errors.ts';
import { type EventLog, NO_STREAM } from '../event-log.ts';
import { openPostgresEventLog } from './postgres-event-log.ts';

const test = base
  .extend('log', { scope: 'file' }, ({ eventLog }) => eventLog)
  .extend('other', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const other = await openPostgresEventLog({ url: database.url, clock: REAL_TIME });
    onCleanup(() => other[Symbol.asyncDispose]());
    return other;
  });

const beside = (stream: StreamName, expected: number, count = 1) => ({
  stream,
  expected: expected as Version,
  events: Array.from({ length: count }, () => anEvent()),
});

const versionOf = async (log: EventLog, stream: StreamName): Promise<number> =>
  (await Array.fromAsync(log.read(stream))).flat().length;

test('an append to several streams returns the versions and positions of each, its own last', async ({
  log,
}) => {
  const [own, one, two] = [aStream(), aStream(), aStream()];
  const also = [beside(one, 0, 2), beside(two, 0)];
  const { also: others = [], ...appended } = await log.append(own, NO_STREAM, [anEvent(), anEvent()], {
    also,
  });
  const { position } = appended;
  expect(appended.version).toBe(2);
  expect(others).toEqual([
    { version: 2, position: position - 3 },
    { version: 1, position: position - 2 },
  ]);
});

test('nothing is stored unless each stream is at its expected version', async ({ log, other }) => {
  const [own, one, two] = [aStream(), aStream(), aStream()];
  await other.append(one, NO_STREAM, [anEvent()]);
  for (const [expected, also] of [
    [0, [beside(one, 0), beside(two, 0)]],
    [0, [beside(two, 0), beside(one, 2)]],
    [1, [beside(one, 1), beside(two, 0)]],
  ] as const)
    await expect(log.append(own, expected as Version, [anEvent()], { also })).rejects.toThrow(StaleVersion);
  expect([await versionOf(log, own), await versionOf(log, one), await versionOf(log, two)]).toEqual([
    0, 1, 0,
  ]);
});

test('a repeated append to several streams is stored once', async ({ log, other }) => {
  const [own, one] = [aStream(), aStream()];
  const [events, also] = [[anEvent()], [beside(one, 0)]];
  const { also: _, ...first } = await log.append(own, NO_STREAM, events, { also });
  expect(await other.append(own, NO_STREAM, events, { also })).toEqual(first);
  expect(await versionOf(log, one)).toBe(1);
});

test('an append names each stream once, and all of its parts have the limits of one', async ({ log }) => {
  const [own, one] = [aStream(), aStream()];
  const twice = { also: [beside(one, 0), beside(one, 1)] };
  await expect(log.append(own, NO_STREAM, [anEvent()], twice)).rejects.toThrow(InvalidAppend);
  const many = { also: [beside(one, 0, 600)] };
  const events = Array.from({ length: 600 }, () => anEvent());
  await expect(log.append(own, NO_STREAM, events, many)).rejects.toThrow(
    '1200 events, but the limit is 1000',
  );
});

test('of concurrent appends of two processes to the same streams, each is stored whole or not at all', async ({
  log,
  other,
}) => {
  const [one, two] = [aStream(), aStream()];
  let stored = 0;
  for (let round = 0; round < 30; round += 1)
    await Promise.all(
      [log, other, log, other].map(async (by, index) => {
        const [own, its] = index % 2 === 0 ? [one, two] : [two, one];
        await by
          .append(own, round as Version, [anEvent()], { also: [beside(its, round)] })
          .then(() => {
            stored += 1;
          })
          .catch((error: unknown) => {
            if (!(error instanceof StaleVersion)) throw error;
          });
      }),
    );
  expect(stored).toBe(30);
  expect([await versionOf(log, one), await versionOf(log, two)]).toEqual([30, 30]);
});
