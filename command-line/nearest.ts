const DISTANCE_MAX = 3;

/** The name that was probably meant. */
export const nearest = (
  typed: string,
  names: readonly string[],
  distanceMax = DISTANCE_MAX,
): string | undefined => {
  const [best] = names
    .map((name) => ({ name, distance: distance(typed, name) }))
    .sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= distanceMax ? best.name : undefined;
};

/** The Levenshtein distance: the number of letters to insert, delete or change. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const change = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};
