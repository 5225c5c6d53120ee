import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { until } from '../../testing/until.ts';
import { followAhead } from './follow-ahead.ts';

const never = new AbortController().signal;

const anEvent = (position: number, text = ''): RecordedEvent =>
  ({ position: position as Position, data: { text } }) as never;

/**
 * A log of so many pages, each of so many events; it counts the pages that were read, and ends, fails, or
 * waits after the last.
 */
const logOf = (
  pages: number,
  { events = 1, text = '', end = 'waits' as 'waits' | 'ends' | 'fails' } = {},
) => {
  const seen = { pages: 0, isLeft: false };
  async function* follow(_after: Position, signal: AbortSignal) {
    try {
      for (let page = 0; page < pages && !signal.aborted; page += 1) {
        seen.pages += 1;
        yield Array.from({ length: events }, (_, n) => anEvent(page * events + n + 1, text));
      }
      if (end === 'fails') throw new RangeError('damaged');
      if (end === 'waits' && !signal.aborted)
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
    } finally {
      seen.isLeft = true;
    }
  }
  return { eventLog: { follow } as unknown as EventLog, seen };
};

const prepare = async (events: readonly RecordedEvent[]) => events.length;

test('pages that arrive while the caller is busy come at once, each as it was prepared', async () => {
  const { eventLog, seen } = logOf(5, { events: 2, end: 'ends' });
  const batches = followAhead({ eventLog, signal: never, prepare }, START);
  const first = await batches.next();
  await until(
    () => seen.isLeft,
    (isLeft) => isLeft,
  );
  const rest = await Array.fromAsync(batches);
  const all = [first.value, ...rest].flatMap((batch) => batch?.events ?? []);
  expect(all.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(rest).toHaveLength(1);
  expect(rest[0]?.ready.every((events) => events === 2)).toBe(true);
});

test.each([
  ['events', 30, { events: 1_000 }],
  ['characters', 30, { events: 10, text: 'x'.repeat(1_000_000) }],
])('it reads no further ahead than so many %s', async (_what, pages, more) => {
  const { eventLog, seen } = logOf(pages, more);
  const batches = followAhead({ eventLog, signal: never, prepare }, START);
  await batches.next();
  await until(
    () => seen.pages,
    (read) => read > 1,
  );
  // Further reads would have happened by now: nothing here waits for anything else.
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
  expect(seen.pages).toBeLessThan(10);
  await batches.return(undefined);
  expect(seen.isLeft).toBe(true);
});

test('pages before a failure are yielded before it, even if preparing fails', async () => {
  const fails = logOf(2, { end: 'fails' });
  const heard: number[] = [];
  const hear = async (
    eventLog: EventLog,
    preparing: (events: readonly RecordedEvent[]) => Promise<number>,
  ) => {
    for await (const { events } of followAhead({ eventLog, signal: never, prepare: preparing }, START)) {
      heard.push(...events.map(({ position }) => position));
    }
  };
  await expect(hear(fails.eventLog, prepare)).rejects.toThrow('damaged');
  expect(heard.splice(0)).toEqual([1, 2]);
  const failing = async ([event]: readonly RecordedEvent[]) => {
    if (event?.position === 2) throw new RangeError('no key');
    return 1;
  };
  await expect(hear(logOf(3).eventLog, failing)).rejects.toThrow('no key');
  expect(heard).toEqual([1]);
});

test('it ends if it is aborted while it waits', async () => {
  const { eventLog, seen } = logOf(0);
  const stopping = new AbortController();
  const heard = Array.fromAsync(followAhead({ eventLog, signal: stopping.signal, prepare }, START));
  stopping.abort();
  expect(await heard).toEqual([]);
  expect(seen.isLeft).toBe(true);
});
