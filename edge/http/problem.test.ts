import { expect, test } from 'vitest';
import type { StreamName } from '#kernel/base/brands.ts';
import { checkAppend } from '#shared/event-log/check-append.ts';
import { AppendTooLarge, InvalidAppend, LogUnavailable, TooManyEvents } from '#shared/event-log/errors.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { problemOf } from './problem.ts';

test('an event that the event log does not accept for its size is 413', () => {
  expect(problemOf(new AppendTooLarge('an event', 2, 1))).toMatchObject({
    status: 413,
    body: { code: 'body_too_large', detail: 'The event log does not accept an event of this size.' },
  });
});

test('a command with more events than an append may have is 413', () => {
  const event = { id: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b', type: 'a.b', data: {}, metadata: {} };
  const events = Array.from({ length: 1_001 }, () => event) as never;
  const append = (): unknown => checkAppend('thing-1' as StreamName, NO_STREAM, events);
  expect(append).toThrow(InvalidAppend);
  expect(append).toThrow(TooManyEvents);
  expect(problemOf(new TooManyEvents('an append to thing-1', 1_001, 1_000))).toMatchObject({
    status: 413,
    body: {
      code: 'body_too_large',
      detail: 'The request would record 1001 events, but at most 1000 can be recorded at once.',
    },
  });
});

test('an event log that does not answer is 503 with Retry-After', () => {
  expect(problemOf(new LogUnavailable('away'))).toMatchObject({
    status: 503,
    headers: { 'Retry-After': '1' },
  });
});
