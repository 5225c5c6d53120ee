// Over 200 lines, because it is one table: each planted violation, with the sentence that reports it.
import { describe, expect, test } from 'vitest';
import { check } from './check.ts';
import { change, inContents, inDelivery, inFeed, type Plant, swapped, twice, without } from './planting.ts';
import { rightHistory } from './right-history.ts';
import type { Invariant } from './violation.ts';

/** A checker that finds nothing proves something only if it is known to find violations. */

const ARTICLES = 3;
test('a correct history has no violations', () => {
  expect(check(rightHistory(ARTICLES))).toEqual([]);
  expect(check(rightHistory(ARTICLES, { hasComments: true }))).toEqual([]);
});

describe('permitted deviations are not reported', () => {
  test.each<[string, Plant]>([
    [
      'an unanswered write that took effect',
      ({ writes }) => ({ writes: change(writes, 8, { outcome: 'unknown' }) }),
    ],
    [
      'an unanswered write that had no effect',
      ({ writes, reads, log, feeds, moves }) => ({
        ...{
          writes: change(writes, 8, { outcome: 'unknown' }),
          reads: reads.slice(0, -1),
          log: log.slice(0, -1),
        },
        feeds: feeds.map(({ received, ...feed }) => ({
          ...feed,
          received: received.slice(0, -1),
          expected: received.slice(0, -1),
        })),
        moves: moves.filter(({ to }) => to < 12),
      }),
    ],
    [
      'a repeated callback after an accepted one',
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
      'a withheld delivery of a retracted event',
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
      'a deletion acknowledged without its position, and visible later',
      ({ writes, reads }) => ({
        writes: change(writes, 8, { isVisible: false }),
        reads: change(reads, 8, { found: 3 }),
      }),
    ],
    [
      'a deletion acknowledged without its position, and visible at once',
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
      ...(['an unanswered write that took effect twice', 'I1', 'duplicated'] as const),
      ({ log, writes }) => ({
        writes: change(writes, 8, { outcome: 'unknown' }),
        log: [...log, { ...log[11], id: 'again', version: 5, position: 99 } as (typeof log)[number]],
      }),
    ],
    [
      ...(['an unanswered write that took effect in part', 'I1', 'other'] as const),
      ({ log, writes }) => ({ writes: change(writes, 0, { outcome: 'unknown' }), log: without(log, 0) }),
    ],
    [
      'a write refused without a reason',
      'I1',
      'other',
      ({ writes }) => ({ writes: change(writes, 1, { outcome: 'refused', why: '412' }) }),
    ],
    [
      'an event without a request',
      'I1',
      'other',
      ({ log }) => ({ log: change(log, 11, { request: 'nobody' }) }),
    ],
    [
      'a position other than the acknowledged one',
      'I1',
      'other',
      ({ writes }) => ({ writes: change(writes, 1, { position: 2 }) }),
    ],
    [
      'a version other than the acknowledged one',
      'I1',
      'other',
      ({ writes }) => ({ writes: change(writes, 1, { state: 2 }) }),
    ],
    [
      ...(['a write before an earlier acknowledged one', 'I1', 'reordered'] as const),
      ({ writes }) => ({ writes: change(change(writes, 3, { position: 3 }), 1, { position: 6 }) }),
    ],
    [
      'another title than the one that was sent',
      'I1',
      'other',
      ({ log }) => ({ log: change(log, 2, { data: { articleId: 1, title: 'Forged' } }) }),
    ],
    ['two swapped events in the log', 'I1', 'reordered', ({ log }) => ({ log: swapped(log, 4) })],
    ['an event that is in the log twice', 'I1', 'duplicated', ({ log }) => ({ log: twice(log, 4) })],
    ['a replay with another result', 'I2', 'other', () => ({ proof: { exit: 1, said: 'articles differ' } })],
    ['a missing callback', 'I3', 'lost', inDelivery(({ received }) => ({ received: without(received, 3) }))],
    [
      'a refused callback',
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
      ...(['a withheld delivery though nothing was retracted', 'I3', 'lost'] as const),
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
      'a delivery planned twice',
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
      'a callback of another subscription',
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
    ['a message with another id', 'contents', 'other', inContents(3, { id: 'event-1' })],
    ['a message about another item', 'contents', 'other', inContents(3, { subject: 'article-9' })],
    ['a message with another time', 'contents', 'other', inContents(3, { time: '2026-01-02T00:00:00.000Z' })],
    ['a message with other data', 'contents', 'other', inContents(3, { data: { articleId: 9 } })],
    ['a message with more data', 'contents', 'other', inContents(3, { data: { articleId: 1, secret: 'x' } })],
    [
      'a message with less data than its readers may read',
      'contents',
      'other',
      (history) => {
        const log = without(history.log, 3);
        return { log, ...inContents(2, { data: { articleId: 1 } })({ ...history, log }) };
      },
    ],
    [
      'a callback with other data',
      'contents',
      'other',
      inDelivery(({ received }) => ({
        received: change(received, 3, { content: { cursor: 'c-4', data: { articleId: 9 } } }),
      })),
    ],
    [
      'a read that shows another title',
      'contents',
      'other',
      ({ reads }) => ({ reads: change(reads, 1, { shows: { title: 'Forged' } }) }),
    ],
    ['a gap in a feed', 'I4', 'lost', inFeed((received) => without(received, 3))],
    ['a feed that ends early', 'I4', 'lost', inFeed((received) => received.slice(0, -1))],
    ['a repeated message', 'I4', 'duplicated', inFeed((received) => [...received, ...received.slice(0, 1)])],
    ['messages out of order', 'I4', 'reordered', inFeed((received) => swapped(received, 3))],
    ['a message for others', 'I4', 'other', inFeed((received) => [...received, 'c-99 user.registered'])],
    [
      'a checkpoint that goes back',
      'I5',
      'duplicated',
      ({ moves }) => ({ moves: [...moves, { follower: 'projector', from: 12, to: 3, projected: 3 }] }),
    ],
    [
      'a checkpoint that skips positions',
      'I5',
      'lost',
      ({ moves }) => ({ moves: moves.filter(({ to, follower }) => to !== 6 || follower !== 'projector') }),
    ],
    ['a move made twice', 'I5', 'duplicated', ({ moves }) => ({ moves: twice(moves, 2) })],
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
      'a read without the preceding write',
      'read your writes',
      'stale',
      ({ reads }) => ({ reads: change(reads, 1, { found: 2 }) }),
    ],
    [
      'a read of a deleted article',
      'read your writes',
      'stale',
      ({ reads }) => ({ reads: change(reads, 2, { found: 3 }) }),
    ],
    [
      ...(['a read that misses an existing article', 'read your writes', 'stale'] as const),
      ({ reads, writes }) => ({ reads: change(reads, 1, { found: 'gone' }), writes: without(writes, 2) }),
    ],
    [
      ...(['a read of an older state than one already read', 'monotonic reads', 'stale'] as const),
      ({ reads }) => ({
        reads: [
          ...reads,
          { ...reads[0], startMs: 999, found: 2, isConsistent: false } as (typeof reads)[number],
        ],
      }),
    ],
    [
      'a consequence that did not happen',
      'consequences',
      'lost',
      ({ log }) => ({ log: log.filter(({ isConsequence }) => !isConsequence) }),
    ],
    [
      'a consequence that happened twice',
      'consequences',
      'duplicated',
      ({ log }) => ({
        log: [...log, { ...log[5], id: 'again', version: 3, position: 99 } as (typeof log)[number]],
      }),
    ],
    [
      'a consequence of nothing',
      'consequences',
      'other',
      ({ log }) => ({ log: change(log, 5, { causation: 'nothing' }) }),
    ],
    [
      'a consequence of another deletion',
      'consequences',
      'other',
      ({ log }) => ({ log: change(log, 11, { causation: log[4]?.id ?? '' }) }),
    ],
    [
      'a consequence before its cause',
      'consequences',
      'reordered',
      ({ log }) => ({ log: change(log, 5, { causation: log[10]?.id ?? '' }) }),
    ],
  ])('%s (%s, %s)', (_name, invariant, kind, plant) => {
    const history = rightHistory(ARTICLES, { hasComments: invariant === 'consequences' });
    expect(check({ ...history, ...plant(history) })).toContainEqual(
      expect.objectContaining({ invariant, kind }),
    );
  });
});
