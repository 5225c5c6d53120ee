import type { Command } from './arguments/command.ts';

const GAP = 3;

export type Group = readonly [title: string, commands: readonly Command[]];

/** All commands by group, or those of one word such as `log`. */
export const helpOnCommands = (groups: readonly Group[]): string => {
  const width = Math.max(...groups.flatMap(([, commands]) => commands.map(({ name }) => name.length))) + GAP;
  return [
    'Usage: npm run annals -- <command> [options]',
    ...groups.flatMap(([title, commands]) => [
      '',
      `${title}:`,
      ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    ]),
    '',
    'Help on a command: npm run annals -- help <command>',
    'Version: npm run annals -- --version',
  ].join('\n');
};

export const helpOn = (
  { name, summary, positionals, options, examples }: Omit<Command, 'run'>,
  program = 'npm run annals --',
): string => {
  const rows = Object.entries(options).map(
    ([option, { placeholder, description }]) =>
      [`--${option} ${placeholder ?? ''}`.trimEnd(), description] as const,
  );
  const width = Math.max(0, ...rows.map(([option]) => option.length)) + GAP;
  const usage = [
    `Usage: ${program}`,
    ...(name === '' ? [] : [name]),
    ...positionals,
    ...(rows.length > 0 ? ['[options]'] : []),
  ].join(' ');
  return [
    summary,
    '',
    usage,
    ...(rows.length > 0
      ? ['', 'Options:', ...rows.map(([option, description]) => `  ${option.padEnd(width)}${description}`)]
      : []),
    '',
    examples.length > 1 ? 'Examples:' : 'Example:',
    ...examples.map((example) => `  ${program} ${example}`),
  ].join('\n');
};
