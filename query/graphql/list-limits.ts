/** How many items a list has where nothing is said, as the schema's own defaults say, and at most. */
export const LIST_LIMIT_DEFAULT = 10;
export const LIST_LIMIT_MAX = 100;
