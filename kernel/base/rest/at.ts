import * as z from 'zod';
import { EXAMPLE_CURSOR } from '../cursor.ts';
import { instant } from '../instant.ts';

/** The format of `at`, the moment that a response shows. */

const CHARACTERS_MAX = 64;
/** A version of the item, a cursor, or a time; the three forms are disjoint. */
const AT =
  /^(?:v[1-9]\d{0,8}|[0-9a-f]{8}-[0-9a-z]{1,11}(?:-[0-9a-f]{8})?|\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d))$/;

/** Whether the text is well-formed; whether the log has it is checked by those who read it. */
export const isMoment = (text: string): boolean =>
  AT.test(text) && (!text.includes(':') || instant.safeParse(text).success);

const moment = z
  .string()
  .max(CHARACTERS_MAX)
  .refine(isMoment, {
    error: 'Must be a time in the RFC 3339 format, a cursor, or the version of an item, such as v3.',
  })
  .meta({ pattern: AT.source });

/** Of an item. */
const at = moment.optional().meta({
  description:
    'Time travel: the item at a time (RFC 3339), a cursor, or a version (`v3`). `As-Of` in the response is the cursor of that point in time.',
  examples: ['2026-11-21T10:15:00Z', 'v3', EXAMPLE_CURSOR],
});

/** Of a list, which has no versions. */
export const atOfList = moment.optional().meta({
  description:
    'Time travel: the list at a time (RFC 3339) or at a cursor. Only in the order of creation, and without a search.',
  examples: ['2026-11-21T10:15:00Z', EXAMPLE_CURSOR],
});

/** Of the groups of a list, whose order is their own. */
export const atOfGroups = moment.optional().meta({
  description:
    'Time travel: the groups at a time (RFC 3339) or at a cursor. Without a search, and of at most 400 items.',
  examples: ['2026-11-21T10:15:00Z', EXAMPLE_CURSOR],
});

export const ItemAt = z.strictObject({ at });
