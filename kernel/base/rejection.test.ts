import { expect, test } from 'vitest';
import {
  deleted,
  isAbsence,
  isNot,
  isRejectionCode,
  isTaken,
  notFound,
  REJECTIONS,
  Rejection,
} from './rejection.ts';

test.each([
  [notFound('user'), 'user_not_found'],
  [deleted('user'), 'user_deleted'],
  [notFound('webhook'), 'webhook_not_found'],
] as const)('what %s says follows from its name', (code, listed) => {
  expect(new Rejection(code).message).toBe(REJECTIONS[listed]);
});

test.each([
  [notFound('expenseClaim'), 'expense_claim_not_found', true, 'There is no such expense claim.'],
  [deleted('expenseClaim'), 'expense_claim_deleted', true, 'The expense claim was deleted.'],
  [isTaken('seatRow', 'rowNumber'), 'seat_row_row_number_taken', false, 'The seat row row number is taken.'],
  [
    isNot('expenseClaim', 'fullyPaid'),
    'expense_claim_not_fully_paid',
    false,
    'The expense claim is not fully paid.',
  ],
  // A fact may have any name.
  [isNot('claim', 'deleted'), 'claim_not_deleted', false, 'The claim is not deleted.'],
  [isNot('claim', 'foundLate'), 'claim_not_found_late', false, 'The claim is not found late.'],
  [notFound('doNotDisturb'), 'do_not_disturb_not_found', true, 'There is no such do not disturb.'],
])('%s has a code, a meaning and a sentence', (code, written, absence, sentence) => {
  expect([code, isAbsence(code), new Rejection(code).message]).toEqual([written, absence, sentence]);
  expect(isRejectionCode(code)).toBe(true);
});

test('an author’s sentence replaces the derived one', () => {
  expect(new Rejection(isNot('claim', 'open'), {}, { says: 'The claim was submitted.' }).message).toBe(
    'The claim was submitted.',
  );
});

test.each(['', 'internal', 'Article_deleted', 'constructor'])('%j is no code of a refusal', (code) =>
  expect(isRejectionCode(code)).toBe(false),
);
