import type { Terminal } from '../terminal.ts';
import { UsageError } from './usage-error.ts';

type Option = {
  readonly type: 'string' | 'boolean';
  /** The values that there are. */
  readonly choices?: readonly string[];
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
  /** Options after the first argument are not of this command: they are arguments of it. */
  readonly isPassing?: boolean;
  run(given: Given, terminal: Terminal): Promise<void>;
};

/** The parsed arguments. */
export type Given = {
  readonly positionals: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
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
