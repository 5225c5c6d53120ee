import { nearest } from '#kernel/base/nearest.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { VERSION_LINE } from '#process/start-arguments.ts';
import { setupFailure } from '#shared/database/failures.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import { fileFailure } from '#shared/folder.ts';
import { type Command, readArguments } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { COMMANDS, groupsOf, inWords } from './commands.ts';
import { helpOn, helpOnCommands } from './help.ts';
import type { Terminal } from './terminal.ts';

const FAILED = 1;
/** `EX_USAGE` of sysexits.h. */
const EX_USAGE = 64;
const WORDS_MAX = 2;
const HELP = new Set(['--help', '-h']);
const VERSION = new Set(['version', '--version', '-v']);
/** Words, and options, that are answered without a command. */
const WITHOUT_COMMAND = ['help', 'version'];

/** Runs the command of the arguments and returns the exit code. */
export const runCommandLine = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await dispatch(args, terminal);
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
  const [first] = args;
  if (first !== undefined && VERSION.has(first)) return terminal.write(VERSION_LINE);
  if (first === undefined || first === 'help' || args.some((argument) => HELP.has(argument))) {
    return terminal.write(
      helpAbout(
        args.filter((argument) => !HELP.has(argument)).slice(first === 'help' ? 1 : 0),
        terminal.domain,
      ),
    );
  }
  const found = find(args);
  if (found === undefined) throw unknown(args);
  const { command, rest } = found;
  const { part } = command;
  if (part !== undefined && !serves(terminal.domain, part))
    throw new StartRefused(`${command.name} needs ${part}(): add it to the parts of this installation.`);
  try {
    await command.run(readArguments(inWords(command, terminal.domain), rest), terminal);
  } catch (error) {
    if (error instanceof UsageError)
      throw new UsageError(`${error.message} (more: npm run annals -- help ${command.name})`);
    throw error;
  }
};

const find = (args: readonly string[]): { command: Command; rest: readonly string[] } | undefined => {
  for (let words = WORDS_MAX; words > 0; words -= 1) {
    const name = args.slice(0, words).join(' ');
    const command = COMMANDS.find((each) => each.name === name);
    if (command !== undefined) return { command, rest: args.slice(words) };
  }
  return undefined;
};

const helpAbout = (words: readonly string[], domain: Domain): string => {
  const groups = groupsOf(domain);
  if (words.length === 0 || words[0] === 'help') return helpOnCommands(groups);
  const found = find(words);
  if (found !== undefined) return helpOn(inWords(found.command, domain));
  const some = groups.flatMap(([, commands]) =>
    commands.filter(({ name }) => name.startsWith(`${words[0]} `)),
  );
  if (some.length > 0 && words.length === 1) return helpOnCommands([['Commands', some]]);
  throw unknown(words);
};

const unknown = (args: readonly string[]): UsageError => {
  const words = args.filter((argument) => !argument.startsWith('-')).slice(0, WORDS_MAX);
  if (words.length === 0) {
    const [option = ''] = args;
    const meant = nearest(option.replace(/^-+/, ''), WITHOUT_COMMAND);
    return new UsageError(`there is no option ${option}; ${hint(meant && `--${meant}`)}`);
  }
  const typed = words.join(' ');
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${typed} `)).map(({ name }) => name);
  if (group.length > 0) return new UsageError(`“${typed}” needs one more word: ${group.join(', ')}`);
  const names = [...WITHOUT_COMMAND, ...COMMANDS.map(({ name }) => name)];
  const meant = nearest(typed, names) ?? nearest(words[0] ?? '', names);
  return new UsageError(`there is no command “${typed}”; ${hint(meant && `“${meant}”`)}`);
};

const hint = (meant: string | undefined): string =>
  meant === undefined ? 'npm run annals -- help lists the commands' : `did you mean ${meant}?`;
