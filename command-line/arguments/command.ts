import { parseArgs } from 'node:util';
import { nearest } from '#kernel/base/nearest.ts';
import type { PartName } from '#kernel/registry/parts.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from './usage-error.ts';

type Option = {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** The value in help texts, such as `<position>`. */
  readonly placeholder?: string;
  readonly description: string;
};

/** One command of the command line; help is generated from it. */
export type Command = {
  /** The words that call it, such as `log tail`. */
  readonly name: string;
  readonly summary: string;
  /** The arguments after the name, in order. Optional ones, in brackets, come last. One with `…` repeats. */
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  readonly examples: readonly string[];
  readonly part?: PartName;
  run(given: Given, terminal: Terminal): Promise<void>;
};

/** The parsed arguments. */
export type Given = {
  readonly positionals: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
};

type Options = Pick<Command, 'positionals' | 'options'>;

/** Parses the arguments of a command; throws `UsageError` for an unknown or missing one. */
export const readArguments = (command: Options, args: readonly string[]): Given => {
  const { values, positionals } = parse(command, args);
  const [missing] = command.positionals.slice(positionals.length);
  if (missing !== undefined && !missing.startsWith('[')) throw new UsageError(`${missing} is missing`);
  const extra = positionals[command.positionals.length];
  const isRepeated = command.positionals.at(-1)?.includes('…') ?? false;
  if (extra !== undefined && !isRepeated) throw new UsageError(`unexpected argument: ${extra}`);
  const entries = Object.entries(values);
  return {
    positionals,
    flags: new Set(entries.flatMap(([name, value]) => (value === true ? [name] : []))),
    values: new Map(
      entries.flatMap(([name, value]) =>
        typeof value === 'boolean' ? [] : [[name, [value].flat().map(String)] as const],
      ),
    ),
  };
};

const parse = ({ options }: Options, args: readonly string[]) => {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(explain(error, options));
    throw error;
  }
};

/** Node explains an option in several sentences, sometimes over several lines; the first names the option. */
const explain = ({ message }: TypeError, options: Command['options']): string => {
  const option = /'(?:-\w, )?(--?[^\s'=]+)/.exec(message)?.[1] ?? '';
  const name = option.replace(/^-+/, '');
  const known = options[name];
  if (known === undefined) {
    const meant = nearest(name, [...Object.keys(options), 'help']);
    return `there is no option ${option}${meant === undefined ? '' : `; did you mean --${meant}?`}`;
  }
  if (known.type === 'boolean') return `${option} takes no value`;
  return `${option} needs a value, as in ${option}=${known.placeholder ?? '<value>'}`;
};

/** A whole number from an option, or its default. */
export const numberOf = (
  given: Given,
  option: string,
  { minimum, maximum }: { minimum: number; maximum: number },
): number | undefined => {
  const [text] = given.values.get(option) ?? [];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
    throw new UsageError(
      `--${option} must be a whole number from ${minimum} to ${maximum}, but is “${text}”`,
    );
  }
  return value;
};
