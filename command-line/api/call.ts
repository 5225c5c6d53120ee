import { readFile } from 'node:fs/promises';
import { buffer, text } from 'node:stream/consumers';
import type { Command, Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { type ApiOperation, type Field, isJson } from './operations.ts';
import { fieldValue, optionOf } from './values.ts';

/** Headers that the command sends by itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'Idempotency-Key',
  'If-None-Match',
  'Consistency-Token',
  'Prefer',
]);
/** Sent in percent-encoding. */
const REASON = 'Reason';
const IF_MATCH = 'If-Match';

/** Options have the names of fields; those of headers are in lower case. */
const optionName = ({ name, place }: Field): string => (place === 'header' ? name.toLowerCase() : name);

const isOption = ({ place, name }: Field, { method }: ApiOperation): boolean =>
  place === 'header' ? !OWN_HEADERS.has(name) && (name !== IF_MATCH || method !== 'GET') : place !== 'path';

/** The arguments of an operation. A field comes before an option of ours with the same name. */
export const argumentsOf = (operation: ApiOperation, options: Command['options']) => {
  const { bodyTypes, fields, method, summary, description } = operation;
  const own = fields.filter((field) => isOption(field, operation));
  return {
    summary: [summary, description].filter(Boolean).join('. '),
    positionals: fields.filter(({ place }) => place === 'path').map(({ name }) => `<${name}>`),
    options: {
      ...(bodyTypes.length > 0 && { [bodyOptionOf(operation)]: BODY }),
      ...(bodyTypes.length > 0 && !bodyTypes.some(isJson) && { [TYPE_OPTION]: TYPE }),
      ...(method === 'GET' && ALL),
      ...options,
      ...Object.fromEntries(own.map((field) => [optionName(field), optionOf(field)])),
    },
  };
};

/** An article has a field of this name itself. */
const bodyOptionOf = ({ fields }: ApiOperation): string =>
  fields.some((field) => optionName(field) === 'body') ? 'body-file' : 'body';

const BODY: Command['options'][string] = {
  type: 'string',
  placeholder: '<file>',
  description: 'Reads the body from a file, or from standard input for -. Options replace its fields.',
};

const TYPE_OPTION = 'media-type';
const TYPE: Command['options'][string] = {
  type: 'string',
  placeholder: '<type>',
  description: 'The media type of the body, if the name of the file does not end with it.',
};

const ALL = {
  all: { type: 'boolean', description: 'Reads all pages of a list.' },
} as const satisfies Command['options'];

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** The request of the given arguments. */
export const callOf = async (operation: ApiOperation, given: Given): Promise<Call> => {
  const { method, fields } = operation;
  const values = new Map(
    fields.flatMap((field) => {
      const value = isOption(field, operation)
        ? fieldValue({ ...field, name: optionName(field) }, given)
        : undefined;
      return value === undefined ? [] : [[field, value] as const];
    }),
  );
  const placed = (place: Field['place']) =>
    Object.fromEntries(
      [...values].flatMap(([field, value]) => (field.place === place ? [[field.name, value]] : [])),
    );
  const body = await bodyOf(operation, given, placed('body'));
  return {
    method,
    path: pathOf(operation, given.positionals),
    query: placed('query') as Readonly<Record<string, string>>,
    headers: {
      ...headersOf(operation, placed('header') as Readonly<Record<string, string>>),
      ...(body instanceof Blob && { 'Content-Type': body.type }),
    },
    ...(body !== undefined && { body }),
  };
};

const pathOf = ({ path, fields }: ApiOperation, positionals: readonly string[]): string => {
  const names = fields.filter(({ place }) => place === 'path').map(({ name }) => name);
  return path.replaceAll(/\{([^}]+)\}/g, (_whole, name: string) => {
    const value = positionals[names.indexOf(name)] ?? '';
    // Two dots would leave the path of the operation.
    if (value === '' || value === '.' || value === '..')
      throw new UsageError(`<${name}> cannot be “${value}”`);
    return encodeURIComponent(value);
  });
};

const JSON_TYPE = 'application/json';

const headersOf = (operation: ApiOperation, given: Readonly<Record<string, string>>) => {
  const { fields, method, answerTypes } = operation;
  const has = (wanted: string) => fields.some(({ place, name }) => place === 'header' && name === wanted);
  const { [REASON]: reason } = given;
  const isOther = answerTypes.length > 0 && !answerTypes.includes(JSON_TYPE);
  return {
    ...(isOther && { Accept: [...new Set(answerTypes)].join(', ') }),
    // A person decides whatever the version is.
    ...(method !== 'GET' && has(IF_MATCH) && { [IF_MATCH]: '*' }),
    ...(has('Prefer') && { Prefer: 'return=representation' }),
    ...given,
    ...(reason !== undefined && { [REASON]: encodeURIComponent(reason) }),
  };
};

const bodyOf = async (
  operation: ApiOperation,
  given: Given,
  fields: Readonly<Record<string, unknown>>,
): Promise<unknown> => {
  const one = (name: string) => given.values.get(name)?.at(-1);
  const option = bodyOptionOf(operation);
  const file = one(option);
  const isOfJson = operation.bodyTypes.length === 0 || operation.bodyTypes.some(isJson);
  if (!isOfJson) return bytesOf(operation, file, one(TYPE_OPTION));
  const read = file === undefined ? undefined : parse(await readText(file), option);
  const hasFields = Object.keys(fields).length > 0;
  if (hasFields && read !== undefined && (typeof read !== 'object' || read === null || Array.isArray(read)))
    throw new UsageError(`--${option} must be a JSON object, if other options give fields of it`);
  if (read === undefined) demandFields(operation, fields);
  if (read !== undefined || hasFields)
    return hasFields ? { ...(read as object | undefined), ...fields } : read;
  return operation.isBodyRequired ? {} : undefined;
};

const demandFields = ({ fields }: ApiOperation, values: Readonly<Record<string, unknown>>): void => {
  const missing = fields.filter(
    ({ place, isRequired, name }) => place === 'body' && isRequired && !Object.hasOwn(values, name),
  );
  if (missing.length > 0)
    throw new UsageError(
      `${missing.map(({ name }) => `--${name}`).join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    );
};

const readText = (file: string): Promise<string> =>
  file === '-' ? text(process.stdin) : readFile(file, 'utf8');

const parse = (content: string, option: string): unknown => {
  try {
    return JSON.parse(content);
  } catch {
    throw new UsageError(`--${option} must name a file with JSON`);
  }
};

/** A picture or a file. */
const bytesOf = async (
  { bodyTypes }: ApiOperation,
  file: string | undefined,
  type: string | undefined,
): Promise<Blob> => {
  if (file === undefined) throw new UsageError('--body is missing: name the file to send');
  const ending = file.split('.').at(-1)?.toLowerCase() ?? '';
  const known = type ?? bodyTypes.find((each) => each.split('/')[1] === (ENDINGS[ending] ?? ending));
  if (known === undefined)
    throw new UsageError(`--${TYPE_OPTION} is missing: one of ${bodyTypes.join(', ')}`);
  const content = file === '-' ? await buffer(process.stdin) : await readFile(file);
  return new Blob([new Uint8Array(content)], { type: known });
};

const ENDINGS: Readonly<Record<string, string>> = { jpg: 'jpeg', txt: 'plain' };
