import {
  FIELD_TYPES,
  type FieldOption,
  type FieldSketch,
  factsOfType,
  isFieldType,
  whyNoField,
} from '../develop/declaration/sketch.ts';
import { UsageError } from './arguments/usage-error.ts';

/** How a field is given: `total:integer:max=1000,optional`. */
export const FIELD_HELP = `<name>:<type>[:<options>], with a type of ${Object.keys(FIELD_TYPES).join(', ')}`;

/** A field of the command line: its name, its type, and options. */
export const fieldGiven = (text: string): FieldSketch => {
  const [name = '', type = 'line', ...rest] = text.split(':').map((each) => each.trim());
  if (!isFieldType(type))
    throw new UsageError(
      `there is no type “${type}” of fields, in “${text}”: use ${Object.keys(FIELD_TYPES).join(', ')}`,
    );
  const options: FieldOption[] = [];
  const values: Record<string, unknown> = {};
  for (const each of rest
    .join(':')
    .split(',')
    .map((option) => option.trim())
    .filter(Boolean)) {
    const [word = '', ...value] = each.split('=');
    if (value.length === 0 && isOption(word)) options.push(word);
    else if (Object.hasOwn(VALUES, word)) values[word] = VALUES[word]?.(value.join('='), type);
    else throw new UsageError(`“${each}” is no option of the field ${name}: use ${optionsOf(type)}`);
  }
  const field = { name, type, ...values, ...(options.length > 0 && { options }) } as FieldSketch;
  const why = whyNoField(field);
  if (why !== undefined) throw new UsageError(why.replace(/\.$/, ''));
  return field;
};

const ALL = new Set<string>(Object.values(FIELD_TYPES).flatMap(({ options }) => options));
const isOption = (word: string): word is FieldOption => ALL.has(word);

const VALUES: Readonly<Record<string, (text: string, type: string) => unknown>> = {
  min: Number,
  max: Number,
  of: String,
  says: String,
  words: (text) => text.split('|').map((word) => word.trim()),
  initial: (text, type) => (type === 'integer' ? Number(text) : type === 'flag' ? text === 'true' : text),
};

const optionsOf = (type: keyof typeof FIELD_TYPES): string => {
  const { options, takes } = factsOfType(type);
  return [...takes.map((each) => (each === 'words' ? 'words=a|b' : `${each}=…`)), ...options].join(', ');
};
