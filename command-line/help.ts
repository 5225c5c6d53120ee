import type { Command } from './arguments/command.ts';
import { newParser, PROGRAM } from './arguments/parser.ts';
import type { Group } from './commands.ts';

type Listed = { readonly name: string; readonly summary: string; readonly title?: string };

/** Lists commands, or groups of them; the parser is only there for the layout. */
const listing = (usage: string, listed: readonly Listed[], columns: number | undefined): string => {
  const list = newParser(PROGRAM, () => {}, columns)
    .usage(usage)
    .helpOption(false)
    .helpCommand(false);
  for (const { name, summary, title = 'Commands' } of listed)
    list.addCommand(
      newParser(name, () => {})
        .summary(summary)
        .helpGroup(`${title}:`),
    );
  return list.helpInformation().trimEnd();
};

/** A line for each group. */
export const helpOnGroups = (groups: readonly Group[], columns?: number): string =>
  [
    listing(
      '<command> [options]',
      groups.map(({ name, summary }) => ({ name, summary, title: 'Groups of commands' })),
      columns,
    ),
    '',
    `Commands of a group: ${PROGRAM} help <group>`,
    `How to use a command: ${PROGRAM} help <command>`,
    `All commands: ${PROGRAM} help --all`,
    `Version: ${PROGRAM} --version`,
  ].join('\n');

type Loaded = { readonly title: string; readonly commands: readonly Command[] };

/** A line for each command of some groups. */
export const helpOnCommands = (groups: readonly Loaded[], columns?: number): string =>
  [
    listing(
      '<command> [options]',
      groups.flatMap(({ title, commands }) =>
        commands.map(({ name, summary }) => ({ name, summary, title })),
      ),
      columns,
    ),
    '',
    `How to use a command: ${PROGRAM} help <command>`,
  ].join('\n');
