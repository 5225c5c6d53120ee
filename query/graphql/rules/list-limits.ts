/** The default and the maximal length of a list; the defaults in the schema are the same. */
export const LIST_LIMIT_DEFAULT = 10;
export const LIST_LIMIT_MAX = 100;

/** The message for a list that is too long. */
export const refusedSize = (size: number): string =>
  size < 0
    ? `A list cannot have ${size} items: request 0 to ${LIST_LIMIT_MAX}.`
    : `A list has at most ${LIST_LIMIT_MAX} items, but ${size} were requested.`;
