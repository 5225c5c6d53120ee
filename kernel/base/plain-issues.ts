import type * as z from 'zod';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

/** Checks an input; faults are in plain sentences, unless the schema has its own. */
export const parsePlainly = <Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): z.ZodSafeParseResult<z.output<Schema>> => schema.safeParse(input, { error: plainIssue });

/** The sentence about a fault for somebody who does not know the library of the schemas. */
export const plainIssue = (issue: Issue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? 'Has the wrong type.';
    case 'invalid_value':
      return issue.values.length === 1
        ? `Must be ${wordOf(issue.values[0])}.`
        : `Must be one of these: ${issue.values.map(wordOf).join(', ')}.`;
    case 'too_small':
      return boundOf(issue.origin, Number(issue.minimum), SMALL, issue.inclusive !== false);
    case 'too_big':
      return boundOf(issue.origin, Number(issue.maximum), BIG, issue.inclusive !== false);
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'Does not have the required format.';
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}.`;
    case 'unrecognized_keys':
      return 'There is no such field.';
    case 'invalid_union':
      return 'Does not have a permitted form.';
    case 'invalid_key':
      return 'Has a name that is not permitted.';
    default:
      return 'Is not valid.';
  }
};

/** By the type that the schema demands. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'Must be a text.',
  number: 'Must be a number.',
  int: 'Must be a whole number.',
  bigint: 'Must be a whole number.',
  nan: 'Must be a number.',
  boolean: 'Must be true or false.',
  array: 'Must be a list.',
  tuple: 'Must be a list.',
  object: 'Must be an object.',
  record: 'Must be an object.',
  null: 'Must be null.',
  date: 'Must be a time.',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'Must be a time in the RFC 3339 format.',
  date: 'Must be a date, such as 2026-01-31.',
  email: 'Must be an e-mail address.',
  url: 'Must be a URL.',
  uuid: 'Must be a UUID.',
  base64url: 'Must be in base64url.',
  ipv4: 'Must be an IPv4 address.',
  ipv6: 'Must be an IPv6 address.',
  safeint: 'Must be a whole number.',
};

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['entry', 'entries'],
};

const SMALL = { inclusive: 'at least', exclusive: 'more than' } as const;
const BIG = { inclusive: 'at most', exclusive: 'less than' } as const;

const boundOf = (
  origin: string,
  limit: number,
  words: typeof SMALL | typeof BIG,
  isInclusive: boolean,
): string => {
  const bound = `${isInclusive ? words.inclusive : words.exclusive} ${limit}`;
  const units = UNITS[origin];
  if (units === undefined) return `Must be ${bound}.`;
  return words === SMALL && isInclusive && limit === 1
    ? 'Must not be empty.'
    : `Must have ${bound} ${units[limit === 1 ? 0 : 1]}.`;
};

const wordOf = (value: unknown): string => (typeof value === 'string' ? `“${value}”` : String(value));
