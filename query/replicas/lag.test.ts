import { expect, test } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { createLag } from './lag.ts';

test('the lag is the age of the first position that the replica lacks', () => {
  let nowMs = 0;
  const lag = createLag(() => nowMs);
  const primaryHas = (position: number) => lag.primaryHas(position as Position);
  const replicaHas = (position: number) => lag.replicaHas(position as Position);
  expect(lag.seconds()).toBe(0);
  primaryHas(10);
  nowMs = 1_000;
  primaryHas(10);
  primaryHas(20);
  nowMs = 3_000;
  expect(lag.seconds()).toBe(3);
  replicaHas(10);
  expect(lag.seconds()).toBe(2);
  replicaHas(25);
  expect(lag.seconds()).toBe(0);
});
