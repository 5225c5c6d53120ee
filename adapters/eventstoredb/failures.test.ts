import { expect, test } from 'vitest';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { failureOf, mayLeaveStuck, PassingFailure, refusalOf } from './failures.ts';

const failure = (message: string, fields: { type?: string; code?: number } = {}) =>
  Object.assign(new Error(message), fields);

test.each([
  ['another node leads', failure('', { type: 'not-leader', code: 5 })],
  ['the connection broke', failure('14 UNAVAILABLE: read ECONNRESET', { type: 'unavailable', code: 14 })],
  [
    'the connection was refused, which has no type',
    failure('14 UNAVAILABLE: No connection established', { code: 14 }),
  ],
  ['the server cancelled', failure('', { type: 'cancelled', code: 1 })],
  ['the server gave up', failure('', { type: 'deadline-exceeded' })],
  ['the consumer was too slow', failure('', { type: 'timeout', code: 10 })],
  ['the server said Unknown in its answer', failure('', { type: 'unknown' })],
  [
    'the server reset the call as it stopped',
    failure('13 INTERNAL: Received RST_STREAM with code 0', { type: 'unknown', code: 13 }),
  ],
  [
    'another client of the process was closed',
    failure('1 CANCELLED: Cancelled on client', { type: 'unknown', code: 1 }),
  ],
  ['no node of the cluster was found', failure('Failed to discover after 10 attempts.')],
  [
    'the node is between two leaders',
    failure('Could not recognize Server Is Not Ready', { type: 'unknown' }),
  ],
  ['the node has too much to do', failure('Could not recognize Server Is Busy', { type: 'unknown' })],
  [
    'the node knows no leader',
    failure('Could not recognize No leader info available in response', { type: 'unknown' }),
  ],
  ['no answer came', new PassingFailure('no answer')],
])('passes: %s', (_what, error) => {
  expect(failureOf(error)).toBe('passing');
});

test.each([
  ['a malformed append', failure('Could not recognize BadRequest', { type: 'unknown' })],
  [
    'a read from a position that is no record’s',
    failure('2 UNKNOWN: Unexpected ReadAllResult: Error', { type: 'unknown', code: 2 }),
  ],
  ['no access', failure('', { type: 'access-denied', code: 7 })],
  [
    'an argument that the server does not take',
    failure('3 INVALID_ARGUMENT: no', { type: 'unknown', code: 3 }),
  ],
  ['an error of ours', new LogUnavailable('closed')],
  ['what is no error', 'no error'],
])('does not pass: %s', (_what, error) => {
  expect(failureOf(error)).toBe('refused');
});

test('a client is replaced after a failure that it cannot recover from', () => {
  expect(mayLeaveStuck(failure('', { type: 'unknown', code: 13 }))).toBe(true);
  expect(mayLeaveStuck(failure('', { type: 'unavailable', code: 14 }))).toBe(false);
  expect(mayLeaveStuck(failure('', { code: 14 }))).toBe(false);
  expect(mayLeaveStuck(failure('', { type: 'not-leader', code: 5 }))).toBe(false);
  expect(mayLeaveStuck(failure('', { type: 'wrong-expected-version', code: 9 }))).toBe(false);
});

test('a refusal names the request, because the client’s message may be empty', () => {
  expect(refusalOf(failure('', { type: 'access-denied' }), 'a read of a-1')).toMatchObject({
    message: 'EventStoreDB refused a read of a-1: access-denied',
  });
});
