/** The earliest future time, if there is one; otherwise the last past time. */
export const nextOf = (
  times: readonly (string | null | undefined | false)[],
  nowMs = Date.now(),
): string | undefined => {
  const known = times
    .filter((time) => typeof time === 'string')
    .toSorted((one, other) => Date.parse(one) - Date.parse(other));
  return known.find((time) => Date.parse(time) > nowMs) ?? known.at(-1);
};
