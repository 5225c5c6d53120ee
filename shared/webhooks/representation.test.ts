import { expect, test } from 'vitest';
import type { EventId } from '#kernel/base/brands.ts';
import type { AttemptRow } from './deliveries.ts';
import { ANSWER_BYTES_MAX, representAttempt } from './representation.ts';

const answerOf = (response_body: Buffer | null) =>
  representAttempt({
    event_id: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b' as EventId,
    number: 1,
    at: new Date(0),
    duration_ms: 1,
    status: 500,
    error: null,
    request_headers: {},
    response_headers: {},
    response_body,
  } satisfies AttemptRow).answer;

test('a response is shown as text if it is text, and otherwise in base64', () => {
  expect(answerOf(Buffer.from('Zu spät.'))).toEqual({ headers: {}, text: 'Zu spät.', truncated: false });
  expect(answerOf(Buffer.from([0xff, 0x00]))).toEqual({ headers: {}, base64: '/wA=', truncated: false });
  expect(answerOf(null)).toEqual({ headers: {}, text: '', truncated: false });
});

test('a response that was cut within a character is text up to it', () => {
  const cut = Buffer.from(`a${'é'.repeat(ANSWER_BYTES_MAX / 2)}`).subarray(0, ANSWER_BYTES_MAX + 1);
  expect(answerOf(cut)).toEqual({
    headers: {},
    text: `a${'é'.repeat(ANSWER_BYTES_MAX / 2 - 1)}`,
    truncated: true,
  });
});

test('a response is truncated if it was longer than the maximum, and not if it has just that length', () => {
  const whole = 'x'.repeat(ANSWER_BYTES_MAX);
  expect(answerOf(Buffer.from(whole))).toEqual({ headers: {}, text: whole, truncated: false });
  expect(answerOf(Buffer.from(`${whole}x`))).toEqual({ headers: {}, text: whole, truncated: true });
});
