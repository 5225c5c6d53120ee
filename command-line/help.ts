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
    'The version: npm run annals -- --version',
  ].join('\n');
};

export const helpOn = ({ name, summary, positionals, options, examples }: Omit<Command, 'run'>, program = 'npm run annals --'): string => {
  const rows = Object.entries(options).map(
    ([option, { placeholder, description }]) => [`--${option} ${placeholder ?? ''}`.trimEnd(), description] as const,
  );
  const width = Math.max(0, ...rows.map(([option]) => option.length)) + GAP;
  const usage = [`Usage: ${program}`, ...(name === '' ? [] : [name]), ...positionals, ...(rows.length > 0 ? ['[options]'] : [])].join(' ');
  return [
    summary,
    '',
    usage,
    ...(rows.length > 0 ? ['', 'Options:', ...rows.map(([option, description]) => `  ${option.padEnd(width)}${description}`)] : []),
    '',
    examples.length > 1 ? 'Examples:' : 'Example:',
    ...examples.map((example) => `  ${program} ${example}`),
  ].join('\n');
};
