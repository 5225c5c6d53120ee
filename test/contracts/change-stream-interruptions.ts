import { expect, test } from 'vitest';
import type { Position } from '#shared/brands.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { type ChangeWorld, idsOf, publicIds, startHearing, write } from './change-stream-engine.ts';

/** Nothing is lost or repeated across interruptions, restarts and slow consumers. */
export const describeInterruptions = (world: () => ChangeWorld): void => {
  describeRestarts(world);
  describeConsumers(world);
};

const describeRestarts = (world: () => ChangeWorld): void => {
  test('resumes after repeated interruptions of a consumer, without losing or repeating anything', async () => {
    const { engine, side } = world();
    await write(world(), 4);
    const ids = await publicIds(side);
    const heard: string[] = [];
    let last = 0 as Position;
    // Each process reads some changes and ends, also in the middle of a page.
    while (heard.length < ids.length) {
      await using stream = await engine.open();
      const quota = 1 + (heard.length % 7);
      await using hearing = startHearing(stream, last);
      const target = ids[Math.min(heard.length + quota, ids.length) - 1];
      await until(hearing.changes, (changes) => changes.some(({ id }) => id === target), 40_000);
      const taken = hearing.changes().slice(0, quota);
      heard.push(...idsOf(taken));
      last = taken.at(-1)?.position ?? last;
    }
    expect(heard).toEqual(ids);
  });

  test(
    'survives a hard stop of the source while changes are written',
    async () => {
      const { engine, side, stream } = world();
      const after = await stream.head();
      await using hearing = startHearing(stream, after);
      for (let round = 0; round < 3; round += 1) {
        await write(world(), 2);
        await engine.disturb();
      }
      await write(world(), 2);
      await hearing.until(await side.eventLog.head());
      expect(idsOf(hearing.changes())).toEqual(await publicIds(side, after));
    },
    scaled(120_000),
  );
};

const describeConsumers = (world: () => ChangeWorld): void => {
  test('ends at once on abort, at the end, in the middle, or before the start', async () => {
    const { engine, side, stream } = world();
    await using idle = startHearing(stream);
    await idle.until(await side.eventLog.head());
    idle.leave();
    await idle.left();
    await using early = startHearing(stream);
    early.leave();
    await early.left();
    await using _held = await engine.holdReadModel();
    await using waiting = startHearing(stream, await stream.head());
    await write(world(), 1);
    waiting.leave();
    await waiting.left();
    expect(waiting.pages).toEqual([]);
  });

  test('lets a slow consumer take its time without delaying others', async () => {
    const { side, stream } = world();
    const after = await stream.head();
    const leaving = new AbortController();
    const slow = stream.follow(after, leaving.signal)[Symbol.asyncIterator]();
    await write(world(), 1);
    const first = await slow.next();
    await using quick = startHearing(stream, after);
    await write(world(), 5);
    const head = await side.eventLog.head();
    await quick.until(head);
    const heard = [...(first.value?.changes ?? [])];
    for (let upTo = first.value?.upTo ?? head; upTo < head; ) {
      const { value } = await slow.next();
      heard.push(...(value?.changes ?? []));
      upTo = value?.upTo ?? head;
    }
    leaving.abort();
    await slow.return?.();
    expect(idsOf(heard)).toEqual(idsOf(quick.changes()));
  });
};
