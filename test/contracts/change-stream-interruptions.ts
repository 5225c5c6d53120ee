import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { type ChangeFixture, idsOf, publicIds, subscribe, write } from './change-stream-engine.ts';

/** Nothing is lost or repeated across interruptions, restarts and slow consumers. */
export const describeInterruptions = (fixture: () => ChangeFixture): void => {
  describeRestarts(fixture);
  describeConsumers(fixture);
};

const describeRestarts = (fixture: () => ChangeFixture): void => {
  test('resumes after repeated interruptions of a consumer, without losing or repeating anything', async () => {
    const { engine, side } = fixture();
    await write(fixture(), 4);
    const ids = await publicIds(side);
    const received: string[] = [];
    let last = 0 as Position;
    // Each process reads some changes and ends, also in the middle of a page.
    while (received.length < ids.length) {
      await using stream = await engine.open();
      const quota = 1 + (received.length % 7);
      await using subscriber = subscribe(stream, last);
      const target = ids[Math.min(received.length + quota, ids.length) - 1];
      await until(subscriber.changes, (changes) => changes.some(({ id }) => id === target), 40_000);
      const taken = subscriber.changes().slice(0, quota);
      received.push(...idsOf(taken));
      last = taken.at(-1)?.position ?? last;
    }
    expect(received).toEqual(ids);
  });

  test(
    'survives a hard stop of the source while changes are written',
    async () => {
      const { engine, side, stream } = fixture();
      const after = await stream.head();
      await using subscriber = subscribe(stream, after);
      for (let round = 0; round < 3; round += 1) {
        await write(fixture(), 2);
        await engine.disturb();
      }
      await write(fixture(), 2);
      await subscriber.until(await side.eventLog.head());
      expect(idsOf(subscriber.changes())).toEqual(await publicIds(side, after));
    },
    scaled(120_000),
  );
};

const describeConsumers = (fixture: () => ChangeFixture): void => {
  test('ends at once on abort, at the end, in the middle, or before the start', async () => {
    const { engine, side, stream } = fixture();
    await using idle = subscribe(stream);
    await idle.until(await side.eventLog.head());
    idle.leave();
    await idle.left();
    await using early = subscribe(stream);
    early.leave();
    await early.left();
    await using _held = await engine.holdReadModel();
    await using waiting = subscribe(stream, await stream.head());
    await write(fixture(), 1);
    waiting.leave();
    await waiting.left();
    expect(waiting.pages).toEqual([]);
  });

  test('lets a slow consumer take its time without delaying others', async () => {
    const { side, stream } = fixture();
    const after = await stream.head();
    const leaving = new AbortController();
    const slow = stream.follow(after, leaving.signal)[Symbol.asyncIterator]();
    await write(fixture(), 1);
    const first = await slow.next();
    await using quick = subscribe(stream, after);
    await write(fixture(), 5);
    const head = await side.eventLog.head();
    await quick.until(head);
    const received = [...(first.value?.changes ?? [])];
    for (let upTo = first.value?.upTo ?? head; upTo < head; ) {
      const { value } = await slow.next();
      received.push(...(value?.changes ?? []));
      upTo = value?.upTo ?? head;
    }
    leaving.abort();
    await slow.return?.();
    expect(idsOf(received)).toEqual(idsOf(quick.changes()));
  });
};
