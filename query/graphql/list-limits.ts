/** How many items a list has where nothing is said, as the schema's own defaults say, and at most. */
export const LIST_LIMIT_DEFAULT = 10;
export const LIST_LIMIT_MAX = 100;

/** Why a list cannot have so many items. */
export const refusedSize = (size: number): string =>
  size < 0
    ? `A list cannot have ${size} items: ask for 0 to ${LIST_LIMIT_MAX}.`
    : `A list has at most ${LIST_LIMIT_MAX} items, and ${size} were asked for.`;
