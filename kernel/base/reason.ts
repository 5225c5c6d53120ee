import * as z from 'zod';
import { demandedLine } from './values.ts';

export const REASON_CHARACTERS_MAX = 500;

const ASKED = `Say why in one line of at most ${REASON_CHARACTERS_MAX} characters, with at least one letter or digit.`;

const line = demandedLine(REASON_CHARACTERS_MAX);
/** Some letters are invisible, such as the fillers of Hangul. */
const WORD = /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]/u;

/**
 * Why a caller sends a command, or places a hold. Blanks, punctuation, and characters that nobody sees are no
 * reason.
 */
export const reason = z
  .string()
  .trim()
  .refine((given) => line.safeParse(given).success && WORD.test(given), { error: ASKED })
  .meta({
    minLength: 1,
    maxLength: REASON_CHARACTERS_MAX,
    pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$',
  });

/** The name of its argument in GraphQL and in tools for agents. */
export const REASON = 'reason';

/** The header of requests in REST. Like a `Slug` (RFC 5023), it is UTF-8 in percent-encoding, because headers are ASCII. */
export const REASON_HEADER = 'Reason';
