import { CommanderError, type Command as Parser } from 'commander';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { VERSION_LINE } from '#process/start-arguments.ts';
import { setupFailure } from '#shared/database/failures.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { fileFailure } from '#shared/folder.ts';
import { declare, HELP, newParser, PROGRAM } from './arguments/parser.ts';
import { UsageError } from './arguments/usage-error.ts';
import { addCommand, groupText, type Line, refuseIn } from './command-tree.ts';
import { GROUPS, groupsOf, loadGroup } from './commands.ts';
import { helpOnCommands, helpOnGroups } from './help.ts';
import { REPLACED } from './replaced.ts';
import type { Terminal } from './terminal.ts';

const FAILED = 1;
/** `EX_USAGE` of sysexits.h. */
const EX_USAGE = 64;

/** Runs the command of the arguments and returns the exit code. */
export const runCommandLine = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await dispatch(args.length === 0 ? ['help'] : args, terminal);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.complain(`annals: ${error.message}${error.message.endsWith('?') ? '' : '.'}`);
      return EX_USAGE;
    }
    if (error instanceof StartRefused) {
      terminal.complain(error.message);
      return error.exitCode;
    }
    const failure =
      error instanceof StreamCut ? `${error.message}.` : (fileFailure(error) ?? setupFailure(error));
    if (failure !== undefined) {
      terminal.complain(failure);
      return FAILED;
    }
    throw error;
  }
};

const dispatch = async (args: readonly string[], terminal: Terminal): Promise<void> => {
  const line: Line = { args, terminal, shown: [] };
  const program = programOf(line);
  try {
    await program.parseAsync(knownIn(args, program), { from: 'user' });
  } catch (error) {
    if (error instanceof UsageError && line.called !== undefined)
      throw new UsageError(`${error.message} (more: ${PROGRAM} help ${line.called})`);
    // Help and the version end the parser.
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
  }
  if (line.shown.length > 0) await terminal.write(line.shown.join('').trimEnd());
};

/** Without options after the words of an unknown command: `--help` would hide that it is unknown. */
const knownIn = (args: readonly string[], program: Parser): readonly string[] => {
  let parser = program;
  for (const [index, word] of args.entries()) {
    const isComplete = parser !== program && parser.commands.length === 0;
    if (word.startsWith('-') || isComplete || isCommand(args.slice(0, index))) return args;
    const next = parser.commands.find((each) => each.name() === word);
    if (next === undefined) return wordsOfUnknown(args, index);
    parser = next;
  }
  return args;
};

const wordsOfUnknown = (args: readonly string[], index: number): readonly string[] => {
  const [first = ''] = args;
  const isAsking = args.some((each) => HELP.has(each));
  return isAsking && index === 0 && isGroup(first) ? ['help', first] : args.slice(0, index + 1);
};

const isGroup = (word: string): boolean => GROUPS.some(({ name }) => name === word);

const isCommand = (words: readonly string[]): boolean =>
  GROUPS.some(({ commands }) => commands.has(words.join(' ')));

const programOf = (line: Line): Parser => {
  const { shown, terminal } = line;
  const { domain, columns } = terminal;
  const program = newParser(PROGRAM, (text) => shown.push(text), columns)
    .enablePositionalOptions()
    .helpCommand(false)
    .version(VERSION_LINE, '-v, --version', 'Shows the version.');
  declare(program.command('version'), { positionals: [], options: {} }).action(
    () => void shown.push(VERSION_LINE),
  );
  const names = [...GROUPS.flatMap(({ commands }) => [...commands.keys()]), ...REPLACED.keys()];
  for (const name of names) addCommand(program, name, line);
  const help = declare(program.command('help'), HELP_COMMAND);
  help.action(() => showHelp(help.args, help.getOptionValue('all') === true, line));
  program.configureHelp({ formatHelp: () => helpOnGroups(groupsOf(domain), columns) });
  return refuseIn(program, []);
};

const HELP_COMMAND = {
  summary: 'Shows the groups of commands, the commands of a group, or how to use a command.',
  positionals: ['[words…]'],
  options: { all: { type: 'boolean', description: 'Lists the commands of all groups.' } },
  examples: ['help', 'help log', 'help log tail', 'help --all'],
} as const;

const showHelp = async (words: readonly string[], isAll: boolean, line: Line): Promise<void> => {
  const { shown, terminal } = line;
  const { domain, columns } = terminal;
  const [first = 'help'] = words;
  if (isAll) {
    const groups = groupsOf(domain).map(async (group) => ({
      title: group.title,
      commands: await loadGroup(group, domain),
    }));
    shown.push(helpOnCommands(await Promise.all(groups), columns));
  } else if (first === 'help') shown.push(helpOnGroups(groupsOf(domain), columns));
  else if (words.length === 1 && isGroup(first) && !isCommand(words))
    shown.push(await groupText(first, terminal));
  else await dispatch([...words, '--help'], terminal);
};
