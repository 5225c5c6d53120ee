import { expect, test } from 'vitest';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { createMeter } from './meter.ts';

const events = (count: number, text = '') =>
  Array.from({ length: count }, () => ({ data: { text } }) as unknown as RecordedEvent);

test('events are charged as they are read: long texts by length, a short stream as ten events', async () => {
  const charged: number[] = [];
  const { onRead, read } = createMeter(async (units) => void charged.push(units));
  await onRead(events(499));
  expect(charged).toEqual([]);
  await onRead(events(1));
  expect([charged, read()]).toEqual([[1], 509]);
  await onRead(events(1_000));
  await onRead(events(10, 'x'.repeat(100_000)));
  expect(charged).toEqual([1, 2, 1]);
});

test.each<[string, object]>([
  ['a text', { text: 'x'.repeat(100_000) }],
  ['a sealed text', { personal: { subject: 7, sealed: 'x'.repeat(100_000) } }],
  ['a list of texts', { tags: Array.from({ length: 1_000 }, () => 'x'.repeat(100)) }],
  ['a list of items', { items: Array.from({ length: 100 }, (_, id) => ({ id, text: 'x'.repeat(1_000) })) }],
])('%s is charged by its length, wherever it is', async (_name, data) => {
  const { onRead, read } = createMeter(async () => {});
  await onRead([{ data } as unknown as RecordedEvent]);
  expect(read()).toBe(51);
});

test('reading stops when the client cannot pay', async () => {
  const { metered } = createMeter(async () => {
    throw new RangeError('too much');
  });
  let pages = 0;
  const eventLog = metered({
    async *read() {
      for (;;) {
        pages += 1;
        yield events(300);
      }
    },
  });
  await expect(Array.fromAsync(eventLog.read('article-1' as never))).rejects.toThrow('too much');
  expect(pages).toBe(2);
});
