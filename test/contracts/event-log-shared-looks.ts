import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { POLL_MS } from '#shared/event-log/tail.ts';
import { anEvent, aStream, type LogEngine, startFollowing } from './event-log-engine.ts';

const BATCHES = 30;
/** Some followers take their time for each page, like those that commit. */
const PAUSES_MS = [0, 0, 0, 1, 3, 10, 40, 150];

/** The followers of a process share its reads of the log's end. */
export const describeSharedLooks = (engine: () => LogEngine): void => {
  test('is not read for what the process itself appends, however many followers of whatever speed', async () => {
    await using log = await engine().open();
    await using other = await engine().open();
    await log.append(aStream(), NO_STREAM, [anEvent()]);
    const head = await log.head();
    await using first = startFollowing(log, head);
    const slow = PAUSES_MS.map((pauseMs) => startFollowing(slowed(log, pauseMs), head));
    await using stack = new AsyncDisposableStack();
    for (const each of slow) stack.use(each);
    const warm = await other.append(aStream(), NO_STREAM, [anEvent()]);
    const reaches = (seen: readonly RecordedEvent[]) => (seen.at(-1)?.position ?? 0) >= warm.position;
    for (const each of [first, ...slow]) await each.until(reaches);

    using looks = engine().countLooks();
    const startMs = performance.now();
    const ids: string[] = [];
    for (let n = 0; n < BATCHES; n += 1) {
      const event = anEvent();
      await log.append(aStream(), NO_STREAM, [event]);
      ids.push(event.id);
      await first.until((seen) => seen.at(-1)?.id === event.id);
    }
    for (const each of [first, ...slow])
      expect(
        (await each.until((seen) => seen.at(-1)?.id === ids.at(-1))).slice(-BATCHES).map(({ id }) => id),
      ).toEqual(ids);
    // Regular polls remain; a process without followers stops polling.
    const unasked = Math.ceil((performance.now() - startMs) / POLL_MS) + 1;
    expect(looks.count()).toBeLessThanOrEqual(unasked);

    for (let n = 0; n < BATCHES; n += 1) {
      const event = anEvent();
      await other.append(aStream(), NO_STREAM, [event]);
      await first.until((seen) => seen.at(-1)?.id === event.id);
    }
    // Each process reads once what another appends.
    const all = Math.ceil((performance.now() - startMs) / POLL_MS) + 1;
    expect(looks.count()).toBeLessThanOrEqual(BATCHES + all);
  });

  test('delivers everything in order to a follower that falls behind, whatever the others have read', async () => {
    await using log = await engine().open();
    const head = await log.head();
    await using quick = startFollowing(log, head);
    const leaving = new AbortController();
    const late = log.follow(head, leaving.signal)[Symbol.asyncIterator]();
    const ids: string[] = [];
    const seen: string[] = [];
    // More than the window for followers that have nearly caught up.
    for (const count of [1, 3, 1_000, 1_000, 700, 1, 2]) {
      const events = Array.from({ length: count }, () => anEvent());
      await log.append(aStream(), NO_STREAM, events);
      ids.push(...events.map(({ id }) => id));
      await quick.until((all) => all.length === ids.length);
      if (count < 1_000) seen.push(...((await late.next()).value ?? []).map(({ id }: RecordedEvent) => id));
    }
    while (seen.length < ids.length)
      seen.push(...((await late.next()).value ?? []).map(({ id }: RecordedEvent) => id));
    expect(seen).toEqual(ids);
    expect(quick.seen.map(({ id }) => id)).toEqual(ids);
    leaving.abort();
    await late.return?.();
  });
};

/** Slows the consumption of its pages. */
const slowed = (
  log: Parameters<typeof startFollowing>[0],
  pauseMs: number,
): Parameters<typeof startFollowing>[0] => ({
  ...log,
  async *follow(...given) {
    for await (const page of log.follow(...given)) {
      yield page;
      await delay(pauseMs);
    }
  },
});
