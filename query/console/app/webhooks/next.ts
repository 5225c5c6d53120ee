/** The next of some times, as far as there are any; if all are over, the last of them. */
export const nextOf = (
  times: readonly (string | null | undefined | false)[],
  nowMs = Date.now(),
): string | undefined => {
  const known = times
    .filter((time) => typeof time === 'string')
    .toSorted((one, other) => Date.parse(one) - Date.parse(other));
  return known.find((time) => Date.parse(time) > nowMs) ?? known.at(-1);
};
