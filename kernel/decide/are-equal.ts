/** Lists are equal if they have equal words in the same order. */
export const areEqual = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((each, index) => each === other[index])
    : one === (other ?? null);
