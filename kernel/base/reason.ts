import * as z from 'zod';

export const REASON_CHARACTERS_MAX = 500;

const ASKED = `Say why in one line of at most ${REASON_CHARACTERS_MAX} characters, with at least one letter or digit.`;

/** Why a caller sends a command. Blanks, and characters that nobody sees, are no reason. */
export const reason = z
  .string()
  .trim()
  .max(REASON_CHARACTERS_MAX, { error: ASKED })
  // Neither line breaks nor other control characters, nor half of a surrogate pair.
  .regex(/^[^\p{Cc}\p{Cs}\u2028\u2029]*[\p{L}\p{N}][^\p{Cc}\p{Cs}\u2028\u2029]*$/u, { error: ASKED });

/** The name of its argument in GraphQL and in tools for agents. */
export const REASON = 'reason';

/** The header of requests in REST. Like a `Slug` (RFC 5023), it is UTF-8 in percent-encoding, because headers are ASCII. */
export const REASON_HEADER = 'Reason';
