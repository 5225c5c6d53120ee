import { median, quantilesOf } from './table.ts';

/**
 * How many times better ours is than the contender in the same run, in each round: higher is always better.
 */
export type Figure = { readonly name: string; readonly rounds: readonly number[] };

/** The median of the rounds, and their quartiles, so that a disturbed round does not count. */
export type Spread = { readonly median: number; readonly low: number; readonly high: number };

export const spreadOf = (rounds: readonly number[]): Spread => {
  const quantile = quantilesOf(rounds);
  return { median: median(rounds), low: quantile(0.25), high: quantile(0.75) };
};

/** `1.42 (1.35–1.50)` */
export const showSpread = ({ median: middle, low, high }: Spread): string => {
  const show = (value: number): string => (middle < 0.1 ? value.toPrecision(2) : value.toFixed(2));
  return `${show(middle)} (${show(low)}–${show(high)})`;
};

/** Reports a figure to the guard, if that runs the bench; returns the figure's text for a table. */
export const report = (name: string, rounds: readonly number[]): string => {
  // A turn may be too short for the resolution of the CPU clock.
  if (rounds.every(Number.isFinite)) process.send?.({ name, rounds } satisfies Figure);
  return showSpread(spreadOf(rounds));
};

/** Round by round, because the speed of the machine drifts between rounds. */
export const ratios = (above: readonly number[], below: readonly number[]): readonly number[] =>
  above.map((value, round) => value / (below[round] ?? Number.NaN));
