import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeDecider } from '../test/decider-properties.ts';
import { given } from '../test/given.ts';
import {
  commandStream,
  RESERVATION_MS,
  type ReservationCommand,
  type ReservationEvent,
  reservation,
} from './reservation.ts';

const later = (milliseconds: number) => new Date(Date.UTC(2026, 0, 2) + milliseconds).toISOString();
const at = later(0);
const outcome = { id: 8001, version: 1 };
const reserve = {
  type: 'Reserve',
  digest: 'request',
  seed: 'seed',
  at,
  by: 'one',
} as const satisfies ReservationCommand;
const complete = {
  type: 'Complete',
  digest: 'request',
  seed: 'seed',
  outcome,
  at,
} as const satisfies ReservationCommand;
const reserved: ReservationEvent = {
  type: 'command.reserved',
  data: { digest: 'request', seed: 'seed', at, by: 'one' },
};
const completed: ReservationEvent = { type: 'command.completed', data: { digest: 'request', outcome, at } };

test('the stream', () => expect(commandStream('x')).toBe('command-x'));

describe('reserving', () => {
  test('a new key', () => given(reservation, []).when(reserve).yields([reserved]));
  test('again for the same request, by whomever', () =>
    given(reservation, [reserved])
      .when({ ...reserve, seed: 'other', by: 'two', at: later(5) })
      .changesNothing());
  test('again for another request', () =>
    given(reservation, [reserved])
      .when({ ...reserve, digest: 'other' })
      .refuses('idempotency_key_reused'));
  test('what was answered, for the same request', () =>
    given(reservation, [reserved, completed]).when(reserve).changesNothing());
  test('what was answered, for another request', () =>
    given(reservation, [reserved, completed])
      .when({ ...reserve, digest: 'other' })
      .refuses('idempotency_key_reused'));
  test.each(['request', 'other'])('after a refusal, for the request %j', (digest) => {
    const anew = { digest, seed: 'new', at: later(5), by: 'two' };
    const refused = { code: 'version_mismatch', says: 'The item has another version.', details: {} };
    given(reservation, [
      reserved,
      { type: 'command.completed', data: { digest: 'request', outcome: { refused }, at } },
    ])
      .when({ type: 'Reserve', ...anew })
      .yields([{ type: 'command.reserved', data: anew }]);
  });

  describe.each([
    ['running', [reserved]],
    ['answered', [reserved, completed]],
  ])('a day later, a reservation that is still %s', (_, history) => {
    test.each(['request', 'other'])('starts again for the request %j', (digest) => {
      const anew = { digest, seed: 'new', at: later(RESERVATION_MS), by: 'two' };
      given(reservation, history)
        .when({ type: 'Reserve', ...anew })
        .yields([{ type: 'command.reserved', data: anew }]);
    });
    test('stands until the last millisecond', () =>
      given(reservation, history)
        .when({ ...reserve, seed: 'new', at: later(RESERVATION_MS - 1) })
        .changesNothing());
  });
});

describe('completing', () => {
  test('what was reserved', () => given(reservation, [reserved]).when(complete).yields([completed]));
  test('again', () => given(reservation, [reserved, completed]).when(complete).changesNothing());
  test('what was never reserved', () => given(reservation, []).when(complete).changesNothing());
  test('what another request has meanwhile', () =>
    given(reservation, [reserved])
      .when({ ...complete, digest: 'other' })
      .changesNothing());
  test('what the same request has meanwhile started anew', () =>
    given(reservation, [reserved])
      .when({ ...complete, seed: 'other' })
      .changesNothing());
});

test('the state holds the answer', () =>
  given(reservation, [reserved, completed]).is({ status: 'completed', ...completed.data }));

describe('in general', () => {
  const digest = fc.constantFrom('a', 'b');
  const seed = fc.constantFrom('s', 't');
  const time = fc.integer({ min: 0, max: 3 * RESERVATION_MS }).map(later);
  describeDecider<typeof reservation.initial, ReservationCommand, ReservationEvent>(
    reservation,
    fc.oneof<fc.Arbitrary<ReservationCommand>[]>(
      fc.record({ type: fc.constant('Reserve'), digest, seed, at: time, by: fc.constantFrom('one', 'two') }),
      fc.record({ type: fc.constant('Complete'), digest, seed, outcome: fc.constant(outcome), at: time }),
    ),
  );
});
