import { expect } from 'vitest';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { anEvent, aStream } from '../../../test/contracts/event-log-engine.ts';
import { test as base } from '../../../test/engines/pool.ts';
import { StaleVersion } from '../errors.ts';
import { NO_STREAM } from '../event-log.ts';
import { openPostgresEventLog } from './postgres-event-log.ts';

const test = base
  .extend('log', { scope: 'file' }, ({ eventLog }) => eventLog)
  .extend('other', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const other = await openPostgresEventLog({ url: database.url, clock: REAL_TIME });
    onCleanup(() => other[Symbol.asyncDispose]());
    return other;
  });

const at = (stream: StreamName, version: number) => ({ reads: [{ stream, version: version as Version }] });

test('an append that depends on other streams is stored only if they are at those versions', async ({
  log,
  other,
}) => {
  const [read, stream] = [aStream(), aStream()];
  await log.append(stream, NO_STREAM, [anEvent()], at(read, 0));
  await other.append(read, NO_STREAM, [anEvent(), anEvent()]);
  for (const wrong of [0, 1, 3])
    await expect(log.append(stream, 1 as Version, [anEvent()], at(read, wrong)), `${wrong}`).rejects.toThrow(
      StaleVersion,
    );
  expect((await log.append(stream, 1 as Version, [anEvent()], at(read, 2))).version).toBe(2);
  await expect(log.append(stream, 1 as Version, [anEvent()], at(read, 2))).rejects.toThrow(StaleVersion);
  const both = { reads: [...at(read, 2).reads, ...at(aStream(), 1).reads] };
  await expect(log.append(stream, 2 as Version, [anEvent()], both)).rejects.toThrow(StaleVersion);
});

test('a repeated append gets its first result, even if the streams it depends on have changed since', async ({
  log,
  other,
}) => {
  const [read, stream] = [aStream(), aStream()];
  const events = [anEvent()];
  const first = await log.append(stream, NO_STREAM, events, at(read, 0));
  await log.append(read, NO_STREAM, [anEvent()]);
  expect(await other.append(stream, NO_STREAM, events, at(read, 0))).toEqual(first);
});

test('of concurrent appends of two processes, each stored one read the latest versions in log order', async ({
  log,
  other,
}) => {
  const read = aStream();
  const stored: { readonly position: number; readonly version: number }[] = [];
  const moves: number[] = [];
  let version = 0;
  const move = async (): Promise<void> => {
    const appended = await log.append(read, 'any', [anEvent()]);
    moves.push(appended.position);
    version = appended.version;
  };
  const readers = (known: number) =>
    [other, log, other].map(async (by) => {
      const appended = await by
        .append(aStream(), NO_STREAM, [anEvent()], at(read, known))
        .catch((error: unknown) => {
          if (!(error instanceof StaleVersion)) throw error;
        });
      if (appended) stored.push({ position: appended.position, version: known });
    });
  // The first round is stored and the second is not; of the others, the first to arrive wins.
  await Promise.all(readers(version));
  await move();
  await Promise.all(readers(version - 1));
  for (let round = 0; round < 40; round += 1) await Promise.all([move(), ...readers(version)]);
  expect(stored.filter((each) => each.version === 0)).toHaveLength(3);
  for (const each of stored)
    expect(moves.filter((position) => position < each.position).length).toBe(each.version);
});
