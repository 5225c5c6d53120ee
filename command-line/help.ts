import type { Command } from './command.ts';

const GAP = 3;

/** All commands, or those of a group such as `log`. */
export const helpOnCommands = (commands: readonly Command[]): string => {
  const width = Math.max(...commands.map(({ name }) => name.length)) + GAP;
  return [
    'Usage: npm run annals -- <command> [options]',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    '',
    'More about one of them: npm run annals -- help <command>',
  ].join('\n');
};

export const helpOn = ({ name, summary, positionals, options, examples }: Command): string => {
  const rows = Object.entries(options).map(
    ([option, { placeholder, description }]) => [`--${option} ${placeholder ?? ''}`.trimEnd(), description] as const,
  );
  const width = Math.max(0, ...rows.map(([option]) => option.length)) + GAP;
  const usage = [`Usage: npm run annals -- ${name}`, ...positionals, ...(rows.length > 0 ? ['[options]'] : [])].join(' ');
  return [
    summary,
    '',
    usage,
    ...(rows.length > 0 ? ['', 'Options:', ...rows.map(([option, description]) => `  ${option.padEnd(width)}${description}`)] : []),
    '',
    examples.length > 1 ? 'Examples:' : 'Example:',
    ...examples.map((example) => `  npm run annals -- ${example}`),
  ].join('\n');
};

const DISTANCE_MAX = 3;

/** The command that was probably meant. */
export const nearest = (typed: string, names: readonly string[]): string | undefined => {
  const [best] = names.map((name) => ({ name, distance: distance(typed, name) })).sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= DISTANCE_MAX ? best.name : undefined;
};

/** Levenshtein's: how many letters must be put in, left out, or changed. */
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
