import { expect, test } from 'vitest';
import { ourEvent } from '../../test/engines/authentic-log.ts';
import { LookBack } from './macs-in.ts';

const NOW_MS = 10_000;
const { metadata: bare } = ourEvent();
const authentic = { ...bare, mac: '0'.repeat(32) };

/** Whether the upgrade must wait, after a look at three records at most, the newest first, by their ages. */
const waitsAfter = (
  ...records: readonly (readonly [agoMs: number, metadata: Record<string, unknown> | undefined])[]
): boolean => {
  const look = new LookBack({ sinceMs: NOW_MS - 1_000, countMax: 3 });
  for (const [agoMs, metadata] of records)
    if (!look.add({ created: new Date(NOW_MS - agoMs), metadata }, true)) break;
  return look.mayHaveBare;
};

test('an upgrade waits if the records do not reach back far enough', () => {
  expect(waitsAfter([0, authentic], [1, authentic], [2, authentic])).toBe(true);
  expect(waitsAfter([0, authentic], [1, authentic], [2_000, authentic])).toBe(false);
});

test('an upgrade does not wait if there are no more records', () => {
  expect(waitsAfter([0, authentic], [1, authentic])).toBe(false);
  expect(waitsAfter()).toBe(false);
});

test('an upgrade waits for a late event of ours without a MAC, and for no other record', () => {
  expect(waitsAfter([0, authentic], [1, bare])).toBe(true);
  expect(waitsAfter([0, authentic], [2_000, bare])).toBe(false);
  expect(waitsAfter([0, { n: 1 }], [1, undefined])).toBe(false);
});
