import { expect, test } from 'vitest';
import type { EventId, Position } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import type { ChangePage } from './change-stream.ts';
import { shareLatest } from './share-latest.ts';

const eventsOf = (...positions: readonly number[]): readonly RecordedEvent[] =>
  positions.map((position) => ({ position, id: `event-${position}` }) as unknown as RecordedEvent);

const setUp = () => {
  const asked: string[] = [];
  let fails = false;
  const clock = createTestClock();
  const made: Parameters<typeof shareLatest>[0] = {
    async toPage(events, after) {
      asked.push(`${after}: ${events.map(({ position }) => position).join()}`);
      if (fails) throw new RangeError('away');
      return { changes: [], upTo: events.at(-1)?.position as Position, event: 'id' as EventId } as ChangePage;
    },
  };
  return {
    asked,
    clock,
    reader: shareLatest(made, clock),
    fail: (isFailing: boolean) => {
      fails = isFailing;
    },
  };
};

test('the same events after the same position are read once', async () => {
  const { reader, asked } = setUp();
  const [one, other] = await Promise.all([1, 2].map(() => reader.toPage(eventsOf(3, 4), 2 as Position)));
  expect(one).toBe(other);
  expect(asked).toEqual(['2: 3,4']);
});

test.for<readonly [string, readonly number[], number]>([
  ['fewer events', [3], 2],
  ['other events', [4, 5], 2],
  ['events after another position', [3, 4], 1],
])('%s are another page', async ([, positions, after]) => {
  const { reader, asked } = setUp();
  await reader.toPage(eventsOf(3, 4), 2 as Position);
  await reader.toPage(eventsOf(...positions), after as Position);
  expect(asked).toHaveLength(2);
});

test('a page that failed is read again', async () => {
  const { reader, asked, fail } = setUp();
  fail(true);
  await expect(reader.toPage(eventsOf(3), 2 as Position)).rejects.toThrow('away');
  fail(false);
  expect(await reader.toPage(eventsOf(3), 2 as Position)).toMatchObject({ upTo: 3 });
  expect(asked).toHaveLength(2);
});

test('a page that is asked for later is read again', async () => {
  const { reader, asked, clock } = setUp();
  await reader.toPage(eventsOf(3), 2 as Position);
  await clock.advance(1_000);
  await reader.toPage(eventsOf(3), 2 as Position);
  expect(asked).toHaveLength(2);
});
