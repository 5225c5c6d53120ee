import { expect, test } from 'vitest';
import { inBatches } from './kafka-publication.ts';

const message = (bytes: number) => ({ key: 'k', value: Buffer.alloc(bytes) });
const batchesOf = (sizes: readonly number[]) =>
  [...inBatches(sizes.map(message))].map((batch) => batch.map(({ value }) => value.length));

test('a request has a maximum of messages and bytes, but carries one message of any size', () => {
  expect(batchesOf([])).toEqual([]);
  expect(batchesOf(Array(1_100).fill(1)).map((batch) => batch.length)).toEqual([500, 500, 100]);
  expect(batchesOf([400_000, 100_000, 100_000, 900_000, 10])).toEqual([
    [400_000, 100_000],
    [100_000],
    [900_000],
    [10],
  ]);
});
