const DISTANCE_MAX = 3;

/** The name that was probably meant; at most half of its letters are wrong. */
export const nearest = (
  typed: string,
  names: readonly string[],
  distanceMax = DISTANCE_MAX,
): string | undefined => {
  const [best] = names
    .map((name) => ({ name, distance: distance(typed, name) }))
    .sort((one, other) => one.distance - other.distance);
  const accepted = Math.min(distanceMax, Math.floor(typed.length / 2));
  return best !== undefined && best.distance <= accepted ? best.name : undefined;
};

/**
 * The optimal string alignment distance: the number of letters to insert, delete or change, or of neighbours
 * to swap, which is the most frequent typing error.
 */
const distance = (from: string, to: string): number => {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const change = (row[column] ?? 0) + (letter === other ? 0 : 1);
      const isSwap = letter === to[column - 1] && other === from[line - 1];
      next.push(
        Math.min(
          change,
          (row[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          isSwap ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
};
