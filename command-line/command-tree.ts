import type { CommanderError, Command as Parser } from 'commander';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { serves } from '#kernel/registry/parts.ts';
import { declare, givenOf, HELP, namesMeant, PROGRAM } from './arguments/parser.ts';
import { UsageError } from './arguments/usage-error.ts';
import { GROUPS, groupsOf, inWords, loadGroup } from './commands.ts';
import { helpOnCommands } from './help.ts';
import { REPLACED } from './replaced.ts';
import type { Terminal } from './terminal.ts';

/** One call of the command line. */
export type Line = {
  readonly args: readonly string[];
  readonly terminal: Terminal;
  /** A parser prints at once; a terminal waits for a slow reader. */
  readonly shown: string[];
  /** The command that runs. */
  called?: string;
};

/** Adds the words of a command. Its code is loaded when it is called. */
export const addCommand = (program: Parser, name: string, line: Line): void => {
  let parser = program;
  const words = name.split(' ');
  for (const [index, word] of words.entries()) {
    const known = parser.commands.find((each) => each.name() === word);
    parser = known ?? addWord(parser, words.slice(0, index + 1), line);
  }
};

const addWord = (parent: Parser, words: readonly string[], line: Line): Parser => {
  const name = words.join(' ');
  const parser = parent.command(words.at(-1) ?? '', { hidden: REPLACED.has(name) }).helpCommand(false);
  parent.hook('preSubcommand', async (_parent, called) => {
    if (called !== parser) return;
    const early = parent.options.find((each) => parent.getOptionValueSource(each.attributeName()) === 'cli');
    if (early !== undefined) throw new UsageError(`${early.long} goes behind “${name}”`);
    await load(parser, name, line);
  });
  return refuseIn(parser, words);
};

/** Declares the command of a parser, or prepares the help on its group. */
const load = async (parser: Parser, name: string, line: Line): Promise<void> => {
  const { args, terminal } = line;
  const isAsking = args.some((each) => HELP.has(each));
  const isNow = REPLACED.get(name);
  if (isNow !== undefined) throw new UsageError(`“${name}” is now ${PROGRAM} ${isNow}`);
  const entry = entryOf(name);
  if (entry === undefined) {
    const text = isAsking ? await groupText(name, terminal) : '';
    parser.configureHelp({ formatHelp: () => text });
    return;
  }
  if (entry.part !== undefined && !serves(terminal.domain, entry.part))
    throw new StartRefused(`${name} needs ${entry.part}(): add it to the parts of this installation.`);
  const command = inWords(await entry.load(), terminal.domain);
  line.called = name;
  declare(parser, command).action(() => command.run(givenOf(parser), terminal));
  if (!isAsking) return;
  for (const below of parser.commands) {
    const found = await entryOf(`${name} ${below.name()}`)?.load();
    if (found !== undefined) below.summary(inWords(found, terminal.domain).summary);
  }
};

const entryOf = (name: string) => GROUPS.find(({ commands }) => commands.has(name))?.commands.get(name);

/** The commands of a group, by its name or by the first word of one of them. */
export const groupText = async (word: string, { domain, columns }: Terminal): Promise<string> => {
  const groups = groupsOf(domain);
  const group =
    groups.find(({ commands }) => [...commands.keys()].some((name) => name.startsWith(`${word} `))) ??
    groups.find(({ name }) => name === word);
  if (group === undefined) throw new UsageError(`this installation does not serve the commands of “${word}”`);
  return helpOnCommands([{ title: group.title, commands: await loadGroup(group, domain) }], columns);
};

/** Lets a parser without a command refuse arguments in our words. */
export const refuseIn = (parser: Parser, words: readonly string[]): Parser =>
  parser.exitOverride((error) => {
    throw error.exitCode === 0 ? error : wrongWords(error, words, parser);
  });

const wrongWords = (error: CommanderError, words: readonly string[], parser: Parser): UsageError => {
  const [, quoted = ''] = /'([^']*)'/.exec(error.message) ?? [];
  if (error.code === 'commander.unknownOption')
    return new UsageError(`there is no option ${quoted.split('=')[0]}; ${hint(namesMeant(error))}`);
  const full = (word: string): string => [...words, word].join(' ');
  if (error.code !== 'commander.unknownCommand') {
    const shown = parser.commands.map((each) => full(each.name())).filter((name) => !REPLACED.has(name));
    return new UsageError(`“${words.join(' ')}” needs one more word: ${shown.join(', ')}`);
  }
  if (words.length === 0 && GROUPS.some(({ name }) => name === quoted))
    return new UsageError(`“${quoted}” is a group of commands: ${PROGRAM} help ${quoted} lists them`);
  const meant = namesMeant(error).map((name) => `“${full(name)}”`);
  return new UsageError(`there is no command “${full(quoted)}”; ${hint(meant)}`);
};

const hint = (meant: readonly string[]): string =>
  meant.length === 0 ? `${PROGRAM} help lists the commands` : `did you mean ${meant.join(' or ')}?`;
