import { type Figure, type Spread, spreadOf } from './figures.ts';

/** The content of figures.json. */
export type Recorded = {
  readonly recorded: { readonly at: string; readonly on: string };
  readonly figures: Readonly<Record<string, Spread>>;
};

export type Compared = {
  readonly name: string;
  readonly today: Spread | undefined;
  readonly recorded: Spread | undefined;
  /** The change of the median, as a share of the recorded one. */
  readonly change: number;
  /** The spread of the rounds, in this run and the recorded one, as a share: smaller changes do not count. */
  readonly noise: number;
  readonly verdict: 'worse' | 'better' | 'same' | 'new' | 'not measured';
};

/** Runs differ at least by this, however similar the rounds of each are. */
const NOISE_MIN = 0.1;
/** With 128 figures, hardly one should seem to have changed when none did. */
const QUARTILES = 1.5;

export const compare = (recorded: Recorded['figures'], figures: readonly Figure[]): readonly Compared[] => {
  const today = new Map(figures.map(({ name, rounds }) => [name, spreadOf(rounds)]));
  const names = new Set([...today.keys(), ...Object.keys(recorded)]);
  return [...names].map((name) => compareOne(name, today.get(name), recorded[name]));
};

const compareOne = (name: string, today: Spread | undefined, recorded: Spread | undefined): Compared => {
  const nothing = { name, today, recorded, change: 0, noise: 0 };
  if (recorded === undefined) return { ...nothing, verdict: 'new' };
  if (today === undefined) return { ...nothing, verdict: 'not measured' };
  const change = today.median / recorded.median - 1;
  const noise = Math.max(NOISE_MIN, QUARTILES * (shareOf(today) + shareOf(recorded)));
  // Half is as far from 1 as double.
  const times = Math.max(1 + change, 1 / (1 + change));
  const verdict = times <= 1 + noise ? 'same' : change < 0 ? 'worse' : 'better';
  return { name, today, recorded, change, noise, verdict };
};

const shareOf = ({ median, low, high }: Spread): number => (high - low) / median;

/**
 * The figures to record. Keeps those of `before` that were not measured; with `isWidened` also widens their
 * spread by the difference between runs.
 */
export const recordOf = (
  figures: readonly Figure[],
  before: Recorded['figures'],
  isWidened: boolean,
): Recorded['figures'] => {
  const measured = figures.map(({ name, rounds }): readonly [string, Spread] => {
    const [now, then] = [spreadOf(rounds), isWidened ? before[name] : undefined];
    if (then === undefined) return [name, rounded(now)];
    const [low, high] = [Math.min(now.low, then.low), Math.max(now.high, then.high)];
    return [name, rounded({ median: Math.sqrt(now.median * then.median), low, high })];
  });
  return { ...before, ...Object.fromEntries(measured) };
};

const DIGITS = 4;
const rounded = ({ median, low, high }: Spread): Spread => {
  const [middle, least, most] = [median, low, high].map((value) => Number(value.toPrecision(DIGITS))) as [
    number,
    number,
    number,
  ];
  return { median: middle, low: least, high: most };
};
