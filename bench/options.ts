import { parseArgs } from 'node:util';

/** The options of the command line; defaults are `[whole, quick]`, for a whole run or one with `--quick`. */
export const readOptions = <Name extends string>(
  defaults: Readonly<Record<Name, readonly [whole: string, quick: string]>>,
): Readonly<Record<Name, string>> => {
  const names = Object.keys(defaults) as Name[];
  const strings = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options: { ...strings, quick: { type: 'boolean', default: false } } });
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  const textOf = (name: Name) => String(given[name] ?? defaults[name][given.quick === true ? 1 : 0]);
  return Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<Name, string>;
};

export const listOf = (text: string): readonly string[] => text.split(',');
export const numbersOf = (text: string): readonly number[] => listOf(text).map(Number);

/** The number and length of turns, from the options `rounds` and `seconds`. */
export const turnsOf = ({ rounds, seconds }: { readonly rounds: string; readonly seconds: string }) => ({
  rounds: Number(rounds),
  durationMs: Number(seconds) * 1_000,
  warmUpMs: Math.min(WARM_UP_MS_MAX, Number(seconds) * 1_000),
});

const WARM_UP_MS_MAX = 1_500;
