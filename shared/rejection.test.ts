import { expect, test } from 'vitest';
import { derivedSentence, isRejectionCode, REJECTIONS, Rejection } from './rejection.ts';

test.each(['user_not_found', 'user_deleted', 'webhook_not_found', 'webhook_deleted'] as const)(
  'what %s says follows from its name',
  (code) => expect(derivedSentence(code)).toBe(REJECTIONS[code]),
);

test('a refusal of any kind has a sentence', () => {
  expect(new Rejection('expense_claim_not_open').message).toBe('The expense claim is not open.');
  expect(new Rejection('expense_claim_not_found').message).toBe('There is no such expense claim.');
});

test.each(['', 'not_found', 'internal', 'Article_deleted', 'constructor'])('%j is no code of a refusal', (code) =>
  expect(isRejectionCode(code)).toBe(false),
);
