import * as z from 'zod';
import { instant } from '#shared/instant.ts';

/** How the moment is written that an answer is to stand for. */

const CHARACTERS_MAX = 64;
/** A version of the item, a cursor, or a time; no text is two of them. */
const AT =
  /^(?:v[1-9]\d{0,8}|[0-9a-f]{8}-[0-9a-z]{1,11}|\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d))$/;

/** Whether it is a moment at all; whether the log has it is for those to say who read it. */
export const isMoment = (text: string): boolean =>
  AT.test(text) && (!text.includes(':') || instant.safeParse(text).success);

const moment = z
  .string()
  .max(CHARACTERS_MAX)
  .refine(isMoment, {
    error: 'Must be a time as RFC 3339 writes it, a cursor, or of an item its version, such as v3.',
  })
  .meta({ pattern: AT.source });

/** Of an item. */
const at = moment.optional().meta({
  description:
    'Time travel: the item at a time (RFC 3339), a cursor, or a version (`v3`). `As-Of` in the response is the cursor of that point in time.',
  examples: ['2026-11-21T10:15:00Z', 'v3', '6f9619ff-1z4'],
});

/** Of a list, which has no versions. */
export const atOfList = moment.optional().meta({
  description:
    'Time travel: the list at a time (RFC 3339) or at a cursor. Only in the order of creation, and without a search.',
  examples: ['2026-11-21T10:15:00Z', '6f9619ff-1z4'],
});

export const ItemAt = z.strictObject({ at });
