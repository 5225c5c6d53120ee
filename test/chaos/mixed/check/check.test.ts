import { describe, expect, test } from 'vitest';
import { check } from './check.ts';
import { change, inDelivery, inFeed, type Plant, swapped, twice, without } from './planting.ts';
import { rightHistory } from './right-history.ts';
import type { Invariant } from './violation.ts';

/** A checker that finds nothing proves something only if it is known to find violations. */

const ARTICLES = 3;
test('a correct history has no violations', () => {
  expect(check(rightHistory(ARTICLES))).toEqual([]);
});

describe('permitted deviations are not reported', () => {
  test.each<[string, Plant]>([
    [
      'an attempt without an answer that was carried out',
      ({ writes }) => ({ writes: change(writes, 8, { outcome: 'unknown' }) }),
    ],
    [
      'an attempt without an answer that was not',
      ({ writes, reads, log, feeds, moves }) => ({
        ...{
          writes: change(writes, 8, { outcome: 'unknown' }),
          reads: reads.slice(0, -1),
          log: log.slice(0, -1),
        },
        feeds: feeds.map(({ heard, ...feed }) => ({
          ...feed,
          heard: heard.slice(0, -1),
          expected: heard.slice(0, -1),
        })),
        moves: moves.filter(({ to }) => to < 12),
      }),
    ],
    [
      'a callback that comes again after it was accepted',
      inDelivery(({ received }) => ({ received: twice(received, 2) })),
    ],
    [
      'a dead letter',
      inDelivery(({ received, ledger }) => ({
        received: change(received, 2, { isAccepted: false }),
        ledger: change(ledger, 2, { state: 'dead' }),
      })),
    ],
    [
      'a delivery kept back of what was taken back',
      inDelivery(({ received, ledger, expected }) => ({
        received: without(received, 2),
        ledger: change(ledger, 2, { state: 'withheld' }),
        takenBack: expected.slice(2, 3),
      })),
    ],
    [
      'a process that could not start',
      ({ ends }) => ({ ends: change(ends, 0, { isExpected: false, isDuringStart: true, code: '1' }) }),
    ],
    [
      'a deletion of which nobody said where it is in the log, and which is seen later',
      ({ writes, reads }) => ({
        writes: change(writes, 8, { isVisible: false }),
        reads: change(reads, 8, { found: 3 }),
      }),
    ],
    [
      'what is gone, where nobody said that it would be',
      ({ writes, reads }) => ({
        writes: change(writes, 8, { isVisible: false }),
        reads: change(reads, 8, { found: 'gone' }),
      }),
    ],
  ])('%s', (_name, plant) => {
    const history = rightHistory(ARTICLES);
    expect(check({ ...history, ...plant(history) })).toEqual([]);
  });
});

describe('each planted violation is found and named', () => {
  test.each<[string, Invariant, string, Plant]>([
    [
      'an acknowledged write that is not in the log',
      'I1',
      'lost',
      ({ log }) => ({ log: log.filter(({ request }) => request !== 'request-9') }),
    ],
    ['half of an acknowledged write', 'I1', 'lost', ({ log }) => ({ log: without(log, 0) })],
    [
      ...(['a write that is in the log twice', 'I1', 'duplicated'] as const),
      ({ log }) => ({
        log: [...log, { ...log[2], id: 'again', version: 5, position: 99 } as (typeof log)[number]],
      }),
    ],
    [
      ...(['an attempt without an answer that was carried out twice', 'I1', 'duplicated'] as const),
      ({ log, writes }) => ({
        writes: change(writes, 8, { outcome: 'unknown' }),
        log: [...log, { ...log[11], id: 'again', version: 5, position: 99 } as (typeof log)[number]],
      }),
    ],
    [
      ...(['an attempt without an answer that was carried out by half', 'I1', 'other'] as const),
      ({ log, writes }) => ({ writes: change(writes, 0, { outcome: 'unknown' }), log: without(log, 0) }),
    ],
    [
      'a write that was refused without a reason',
      'I1',
      'other',
      ({ writes }) => ({ writes: change(writes, 1, { outcome: 'refused', why: '412' }) }),
    ],
    [
      'an event that nobody asked for',
      'I1',
      'other',
      ({ log }) => ({ log: change(log, 11, { request: 'nobody' }) }),
    ],
    [
      'a place in the log that is not the one that was told',
      'I1',
      'other',
      ({ writes }) => ({ writes: change(writes, 1, { position: 2 }) }),
    ],
    [
      'a version that is not the one that was told',
      'I1',
      'other',
      ({ writes }) => ({ writes: change(writes, 1, { state: 2 }) }),
    ],
    [
      ...(['a write before one that was done when it began', 'I1', 'reordered'] as const),
      ({ writes }) => ({ writes: change(change(writes, 3, { position: 3 }), 1, { position: 6 }) }),
    ],
    [
      'two events that have changed places in the log',
      'I1',
      'reordered',
      ({ log }) => ({ log: swapped(log, 4) }),
    ],
    ['an event that is in the log twice', 'I1', 'duplicated', ({ log }) => ({ log: twice(log, 4) })],
    [
      'a replay that comes to something else',
      'I2',
      'other',
      () => ({ proof: { exit: 1, said: 'articles differ' } }),
    ],
    [
      'a callback that never came',
      'I3',
      'lost',
      inDelivery(({ received }) => ({ received: without(received, 3) })),
    ],
    [
      'a callback that was never accepted',
      'I3',
      'lost',
      inDelivery(({ received }) => ({ received: change(received, 3, { isAccepted: false }) })),
    ],
    [
      'a delivery that is still due',
      'I3',
      'lost',
      inDelivery(({ ledger }) => ({ ledger: change(ledger, 3, { state: 'due' }) })),
    ],
    [
      ...(['a delivery that was kept back though nothing was taken back', 'I3', 'lost'] as const),
      inDelivery(({ ledger, received }) => ({
        ledger: change(ledger, 3, { state: 'withheld' }),
        received: without(received, 3),
      })),
    ],
    [
      'an event under two ids',
      'I3',
      'duplicated',
      inDelivery(({ received }) => ({ received: [...received, { ...received[0], id: 'other' } as never] })),
    ],
    [
      'a delivery that is planned twice',
      'I3',
      'duplicated',
      inDelivery(({ ledger }) => ({ ledger: twice(ledger, 3) })),
    ],
    [
      'another body under the same id',
      'I3',
      'other',
      inDelivery(({ received }) => ({ received: [...received, { ...received[0], body: '?' } as never] })),
    ],
    [
      'a callback for somebody else',
      'I3',
      'other',
      inDelivery(({ expected }) => ({ expected: without(expected, 3) })),
    ],
    [
      'callbacks out of order',
      'I3',
      'reordered',
      inDelivery(({ received }) => ({ received: swapped(received, 3) })),
    ],
    ['a gap in a feed', 'I4', 'lost', inFeed((heard) => without(heard, 3))],
    ['a feed that ends early', 'I4', 'lost', inFeed((heard) => heard.slice(0, -1))],
    ['a message that comes again', 'I4', 'duplicated', inFeed((heard) => [...heard, ...heard.slice(0, 1)])],
    ['messages that have changed places', 'I4', 'reordered', inFeed((heard) => swapped(heard, 3))],
    ['a message that is for others', 'I4', 'other', inFeed((heard) => [...heard, 'c-99 user.registered'])],
    [
      'a checkpoint that goes back',
      'I5',
      'duplicated',
      ({ moves }) => ({ moves: [...moves, { follower: 'projector', from: 12, to: 3, projected: 3 }] }),
    ],
    [
      'a checkpoint that leaps',
      'I5',
      'lost',
      ({ moves }) => ({ moves: moves.filter(({ to, follower }) => to !== 6 || follower !== 'projector') }),
    ],
    ['a move that two have made', 'I5', 'duplicated', ({ moves }) => ({ moves: twice(moves, 2) })],
    [
      'a checkpoint beyond the log',
      'I5',
      'other',
      ({ moves }) => ({ moves: [...moves, { follower: 'projector', from: 12, to: 13, projected: 13 }] }),
    ],
    [
      'a publisher ahead of the read model',
      'I5',
      'other',
      ({ moves }) => ({ moves: change(moves, 3, { projected: 2 }) }),
    ],
    [
      'a process that ended by itself',
      'I6',
      'other',
      ({ ends }) => ({ ends: change(ends, 0, { isExpected: false, code: '1' }) }),
    ],
    [
      'a process that crashed during its start',
      'I6',
      'other',
      ({ ends }) => ({ ends: change(ends, 0, { isExpected: false, isDuringStart: true }) }),
    ],
    [
      'a process that needs too much memory',
      'I6',
      'other',
      ({ memory }) => ({ memory: change(memory, 0, { bytes: 2 ** 31 }) }),
    ],
    [
      'a read that does not see the write before it',
      'read your writes',
      'stale',
      ({ reads }) => ({ reads: change(reads, 1, { found: 2 }) }),
    ],
    [
      'a read of what is deleted',
      'read your writes',
      'stale',
      ({ reads }) => ({ reads: change(reads, 2, { found: 3 }) }),
    ],
    [
      ...(['a read that misses what is there', 'read your writes', 'stale'] as const),
      ({ reads, writes }) => ({ reads: change(reads, 1, { found: 'gone' }), writes: without(writes, 2) }),
    ],
    [
      ...(['a read of what was before what was seen', 'monotonic reads', 'stale'] as const),
      ({ reads }) => ({
        reads: [
          ...reads,
          { ...reads[0], startMs: 999, found: 2, isConsistent: false } as (typeof reads)[number],
        ],
      }),
    ],
  ])('%s (%s, %s)', (_name, invariant, kind, plant) => {
    const history = rightHistory(ARTICLES);
    expect(check({ ...history, ...plant(history) })).toContainEqual(
      expect.objectContaining({ invariant, kind }),
    );
  });
});
