/**
 * Describes how a received sequence differs from the expected one, in which each element occurs once;
 * undefined if they are equal.
 */
export const faultsOf = (expected: readonly string[], received: readonly string[]): readonly string[] => {
  const places = new Map(expected.map((each, place) => [each, place]));
  const seen = new Set<string>();
  const faults: string[] = [];
  let furthest = -1;
  for (const each of received) {
    const place = places.get(each);
    if (place === undefined) faults.push(`not for them: ${each}`);
    else if (seen.has(each)) faults.push(`repeated: ${each}`);
    else if (place < furthest) faults.push(`out of order: ${each}`);
    else furthest = place;
    seen.add(each);
  }
  return [...faults, ...expected.filter((each) => !seen.has(each)).map((each) => `lost: ${each}`)];
};
