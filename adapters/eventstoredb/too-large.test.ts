import { expect, test } from 'vitest';
import { failureOf } from './failures.ts';
import { EventTooLarge, eventTooLargeIn, isMessageTooLarge, MessageTooLarge } from './too-large.ts';

test('the bytes and the limit are read from the details of the refusal', () => {
  const id = Buffer.from('f0000000-0000-4000-8000-000000000000');
  const details = Buffer.concat([
    Buffer.from([0x0a, id.length]),
    id,
    Buffer.from([0x10, 0x80, 0x80, 0x40, 0x18, 0xff, 0x01]),
  ]);
  expect(eventTooLargeIn(details)).toMatchObject({ bytes: 1_048_576, bytesMax: 255 });
});

test('both refusals are of a size', () => {
  expect(failureOf(new EventTooLarge(2, 1))).toBe('too-large');
  expect(failureOf(new MessageTooLarge(2, {}))).toBe('too-large');
});

test.each([
  ['8 RESOURCE_EXHAUSTED: Received message exceeds the maximum configured message size.', 8, true],
  ['8 RESOURCE_EXHAUSTED: Received message larger than max (5 vs 4)', 8, true],
  ['8 RESOURCE_EXHAUSTED: Bandwidth exhausted', 8, false],
  ['13 INTERNAL: Received message larger than max (5 vs 4)', 13, false],
])('%s', (message, code, isOfSize) => {
  expect(isMessageTooLarge(Object.assign(new Error(message), { code }))).toBe(isOfSize);
});
