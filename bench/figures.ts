import { median, quantilesOf } from './table.ts';

/**
 * How many times better ours is than what it is measured beside in the same run, in each of its rounds:
 * higher is better, always.
 */
export type Figure = { readonly name: string; readonly rounds: readonly number[] };

/**
 * The median of the rounds, and their quartiles: a round in which the machine did something else counts for
 * nothing.
 */
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

/** Hands a figure to the guard, if that runs the bench; returns how a table shows it. */
export const report = (name: string, rounds: readonly number[]): string => {
  // A turn may be too short for the clock of the processor.
  if (rounds.every(Number.isFinite)) process.send?.({ name, rounds } satisfies Figure);
  return showSpread(spreadOf(rounds));
};

/** Round by round, because the rounds of a machine that drifts are not alike. */
export const ratios = (above: readonly number[], below: readonly number[]): readonly number[] =>
  above.map((value, round) => value / (below[round] ?? Number.NaN));
