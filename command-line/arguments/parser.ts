import { type CommanderError, Option, Command as Parser } from 'commander';
import type { Command, Given } from './command.ts';
import { UsageError } from './usage-error.ts';

/** How texts call the program. */
export const PROGRAM = 'npm run annals --';

/** The parts of a command that a parser reads. */
export type Arguments = Pick<Command, 'positionals' | 'options'> &
  Partial<Pick<Command, 'summary' | 'examples' | 'isPassing'>>;

type Shape = {
  /** The words before the arguments in help texts, such as `npm run annals -- log tail`. */
  readonly program: string;
  /** The columns of the terminal; undefined does not wrap lines. */
  readonly columns?: number | undefined;
};

/** A parser that throws a `UsageError` instead of ending the process, and writes help to `show`. */
export const newParser = (name: string, show: (text: string) => void, columns?: number): Parser =>
  new Parser(name)
    .exitOverride(rethrow)
    .configureOutput({
      writeOut: show,
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => columns ?? Number.POSITIVE_INFINITY,
      getOutHasColors: () => false,
    })
    .configureHelp({ minWidthToWrap: WRAPPED_MIN })
    .helpOption('-h, --help', 'Shows this help.');

/** Narrower descriptions are not wrapped. */
const WRAPPED_MIN = 20;

/** The errors of the parser are translated where its arguments are known. */
const rethrow = (error: CommanderError): never => {
  throw error;
};

/** Gives a parser the arguments of a command. */
export const declare = (parser: Parser, given: Arguments): Parser => {
  const { summary, positionals, options, examples = [], isPassing = false } = given;
  parser.passThroughOptions(isPassing);
  parser.exitOverride((error) => {
    throw error.exitCode === 0 ? error : wrongUsage(error, parser);
  });
  if (summary !== undefined) parser.description(summary);
  for (const each of positionals) parser.argument(each.replace(/…(?=[>\]]$)/, '...'));
  for (const [name, option] of Object.entries(options)) parser.addOption(optionOf(parser, name, option));
  if (examples.length > 0)
    parser.addHelpText('after', ({ command }) =>
      [
        '',
        examples.length > 1 ? 'Examples:' : 'Example:',
        ...examples.map((each) => `  ${startOf(command)} ${each}`),
      ].join('\n'),
    );
  return parser;
};

/** The program of an example: examples begin with the name of the command. */
const startOf = (parser: Parser): string => {
  let start = parser;
  while (start.parent !== null) start = start.parent;
  return start.name();
};

const optionOf = (parser: Parser, name: string, option: Command['options'][string]): Option => {
  const { type, description, placeholder = '<value>', multiple = false, choices } = option;
  if (type === 'boolean') return new Option(`--${name}`, description);
  const declared = new Option(`--${name} ${placeholder}`, description);
  if (choices !== undefined) declared.choices(choices);
  return declared.argParser((value, earlier: readonly string[] | undefined) => {
    if (parser.options.some(({ long }) => long === value) || HELP.has(value)) throw needsValue(declared);
    if (choices !== undefined && !choices.includes(value))
      throw new UsageError(`--${name} must be one of ${choices.join(', ')}, but is “${value}”`);
    return multiple ? [...(earlier ?? []), value] : [value];
  });
};

export const HELP: ReadonlySet<string> = new Set(['--help', '-h']);

const needsValue = ({ long, flags }: Option): UsageError =>
  new UsageError(`${long} needs a value, as in ${long}=${flags.split(' ').slice(1).join(' ')}`);

/** The arguments that a parser has read. */
export const givenOf = (parser: Parser): Given => {
  const flags = new Set<string>();
  const values = new Map<string, readonly string[]>();
  for (const option of parser.options) {
    const attribute = option.attributeName();
    if (parser.getOptionValueSource(attribute) !== 'cli') continue;
    const name = option.long?.slice(2) ?? '';
    const value: unknown = parser.getOptionValue(attribute);
    if (option.isBoolean() || option.negate) flags.add(name);
    else values.set(name, value as readonly string[]);
  }
  return { positionals: parser.args, flags, values };
};

const MEANT = /\(Did you mean (?:one of )?(.+)\?\)/;

/** In our words. */
const wrongUsage = (error: CommanderError, parser: Parser): UsageError => {
  const [, quoted = ''] = /'([^']*)'/.exec(error.message) ?? [];
  const [name = ''] = quoted.split('=');
  switch (error.code) {
    case 'commander.unknownOption':
      return parser.options.some(({ long }) => long === name)
        ? new UsageError(`${name} takes no value`)
        : new UsageError(`there is no option ${name}${meantBy(error)}`);
    case 'commander.optionMissingArgument':
      return needsValue(new Option(quoted));
    case 'commander.missingArgument':
      return new UsageError(`${quoted.startsWith('<') ? quoted : `<${quoted}>`} is missing`);
    case 'commander.excessArguments':
      return new UsageError(`unexpected argument: ${parser.args[parser.registeredArguments.length]}`);
    default:
      return new UsageError(error.message.replace(/^error: /, ''));
  }
};

/** The names that are nearest to a wrong one. */
export const namesMeant = ({ message }: CommanderError): readonly string[] =>
  MEANT.exec(message)?.[1]?.split(', ') ?? [];

const meantBy = (error: CommanderError): string => {
  const names = namesMeant(error);
  return names.length === 0 ? '' : `; did you mean ${names.join(' or ')}?`;
};

/** Parses the arguments of a command; throws `UsageError` for an unknown or missing one. */
export const readArguments = (command: Arguments, args: readonly string[]): Given => {
  const parser = declare(newParser('', () => {}).helpOption(false), command);
  return givenOf(parser.parse(args, { from: 'user' }));
};

/** The help of a command. */
export const helpOn = (command: Arguments, { program, columns }: Shape): string => {
  const shown: string[] = [];
  declare(
    newParser(program, (text) => shown.push(text), columns),
    command,
  ).outputHelp();
  return shown.join('').trimEnd();
};
