import { expect, test } from 'vitest';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { answerAgain } from './idempotency.ts';

const HERE = 'here' as LogIdentity;
const COMPLETED_AT = 20 as Position;

/** In the log with the identity `HERE`, where the reservation was completed at `COMPLETED_AT`. */
const positionOf = (log: string | undefined, written: number) => {
  const outcome = { done: { id: 7, version: 1, position: written }, ...(log !== undefined && { log }) };
  const state = { status: 'completed', digest: 'mZ0x', outcome, at: '2026-01-02T03:04:05.900Z' } as const;
  return answerAgain({ state, position: COMPLETED_AT }, HERE).position;
};

test('a repeated request gets the position of its write', () => {
  expect(positionOf('here', 19)).toBe(19);
});

test.each([
  ['a smaller log', 'there', 3],
  ['a larger log', 'there', 4_000],
  ['a log that an earlier release did not name', undefined, 3],
])('in a copy of %s it gets the position of the event that completed it here', (_, log, written) => {
  expect(positionOf(log, written)).toBe(COMPLETED_AT);
});
