import * as z from 'zod';

/** The parameters of lists. */

export const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const CURSOR_CHARACTERS_MAX = 400;
const SEARCH_CHARACTERS_MAX = 200;

const limit = z
  .string()
  .regex(/^\d{1,3}$/, { error: `Must be a whole number from 1 to ${LIMIT_MAX}.` })
  .meta({
    type: 'integer',
    pattern: undefined,
    minimum: 1,
    maximum: LIMIT_MAX,
    default: LIMIT_DEFAULT,
    description: 'Maximum number of items on a page.',
  })
  .transform(Number)
  .pipe(
    z
      .int()
      .min(1, { error: 'Must be at least 1.' })
      .max(LIMIT_MAX, { error: `Must be at most ${LIMIT_MAX}.` }),
  );

const cursor = z.string().min(1).max(CURSOR_CHARACTERS_MAX);

/** Either a page after a cursor, or one before it. */
export const PAGE = {
  limit: limit.optional(),
  after: cursor.optional().meta({ description: 'A cursor from a link with rel="next".' }),
  before: cursor.optional().meta({ description: 'A cursor from a link with rel="prev".' }),
};

/** A name to sort by; a minus reverses the order. */
export const sortBy = <const Name extends string>(...names: readonly [Name, ...Name[]]) =>
  z
    .enum(names)
    .optional()
    .meta({ default: names[0], description: 'The order; a minus means the latest first.' });

/** The id of another aggregate, in a query. */
export const idParameter = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, { error: 'Must be an id: a positive whole number.' })
  .meta({ type: 'integer', pattern: undefined, minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
  .transform(Number)
  .pipe(z.int().positive({ error: 'Must be an id: a positive whole number.' }));

const searched = z
  .string()
  .min(1)
  .max(SEARCH_CHARACTERS_MAX)
  .refine((value) => value.isWellFormed() && !value.includes('\u0000'), {
    error: 'Must be well-formed Unicode without U+0000.',
  })
  // Like the index, because one letter can be written in several ways.
  .normalize('NFC');

export const search = searched.meta({
  description: 'Search words: all must occur. "A phrase" in quotes, -without, this or that.',
});

export const searchOfUsers = searched.meta({
  description:
    'A part of the name, in upper or lower case. Callers who may read all e-mail addresses also find users by a part of the address.',
  examples: ['ada'],
});
