import { expect, test } from 'vitest';
import type { Position, Version } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import { positionAt, revisionOf, serverPositionOf, versionAt } from './server-positions.ts';

test('a position is that of the record in the server’s log, as a number', () => {
  expect(positionAt({ commit: 548n })).toBe(548);
  expect(serverPositionOf(548 as Position)).toEqual({ commit: 548n, prepare: 548n });
  expect(serverPositionOf(START)).toBe('start');
});

test('a version is one more than the revision', () => {
  expect(versionAt(0n)).toBe(1);
  expect(revisionOf(1 as Version)).toBe(0n);
});

test.each([2n ** 53n, 2n ** 64n - 1n, -1n])(
  'a position %s that is not a safe integer is refused',
  (value) => {
    expect(() => positionAt({ commit: value })).toThrow('not a safe integer');
  },
);
