import type { Command, Given } from '../arguments/command.ts';
import { timeOf } from '../arguments/time-given.ts';
import { UsageError } from '../arguments/usage-error.ts';
import type { Field } from './operations.ts';

type Schema = Field['schemas'][number];
type Option = Command['options'][string];

/** The option of a field. */
export const optionOf = (field: Field): Option => {
  const { description, isRequired, schemas } = field;
  const choices = choicesOf(schemas);
  const says = [
    description,
    ...(choices === undefined ? [] : [`One of ${choices.join(', ')}.`]),
    ...(isRequired ? ['Required.'] : []),
  ];
  return {
    type: 'string',
    multiple: true,
    placeholder: `<${formOf(field)}>${isRepeated(field) ? '…' : ''}`,
    description: says.filter((each) => each !== '').join(' '),
  };
};

const typesOf = ({ type, enum: values, const: constant }: Schema): readonly string[] => {
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === 'string') return [type];
  const known = constant === undefined ? values : [constant];
  return Array.isArray(known) ? known.map((value) => (value === null ? 'null' : typeof value)) : [];
};

const choicesOf = (schemas: readonly Schema[]): readonly string[] | undefined => {
  const some = schemas.filter((schema) => !typesOf(schema).every((type) => type === 'null'));
  const all = some.map(({ enum: values, const: constant }) => (constant === undefined ? values : [constant]));
  if (all.length === 0 || !all.every(Array.isArray)) return undefined;
  return all.flat().map(String);
};

const isTime = (schemas: readonly Schema[]): boolean => schemas.some(({ format }) => format === 'date-time');

const isRepeated = ({ schemas, place }: Field): boolean =>
  place === 'body' && schemas.some((schema) => typesOf(schema).includes('array'));

/** The form of a value in help texts. */
const formOf = ({ schemas }: Field): string => {
  const types = new Set(schemas.flatMap(typesOf));
  const items = schemas.flatMap(({ items: each }) => (each === undefined ? [] : typesOf(each as Schema)));
  if (items.length > 0 && items.every((type) => type !== 'object' && type !== 'array'))
    return items.includes('string') ? 'text' : 'number';
  if (types.has('object') || types.has('array') || types.size === 0) return 'json';
  if (isTime(schemas)) return 'time';
  if (types.has('string')) return 'text';
  return types.has('boolean') ? 'true|false' : 'number';
};

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The value of a field that was given; undefined if it was not. */
export const fieldValue = (field: Field, given: Given): unknown => {
  const texts = given.values.get(field.name);
  if (texts === undefined) return undefined;
  const [text = ''] = texts.slice(-1);
  if (field.place !== 'body' && texts.length > 1)
    throw new UsageError(`--${field.name} can be given only once`);
  // The server reads texts in addresses by its schemas.
  if (field.place !== 'body') return isTime(field.schemas) ? timeIn(field, text, given) : text;
  const list = field.schemas.find((schema) => typesOf(schema).includes('array'));
  if (list !== undefined && !(texts.length === 1 && /^(?:\[|null$)/.test(text))) {
    const schemas = [(list.items ?? {}) as Schema];
    return texts.map((each) => read({ ...field, schemas }, each, given));
  }
  if (texts.length > 1) throw new UsageError(`--${field.name} can be given only once`);
  return read(field, text, given);
};

const read = (field: Field, text: string, given: Given): unknown => {
  const { name, schemas } = field;
  const types = new Set(schemas.flatMap(typesOf));
  if (text === 'null' && types.has('null')) return null;
  if ((types.has('integer') || types.has('number')) && NUMBER.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('string')) return isTime(schemas) ? timeIn(field, text, given) : text;
  if (types.has('object') || types.has('array') || types.size === 0) return jsonIn(name, text);
  throw new UsageError(
    `--${name} must be ${types.has('boolean') ? 'true or false' : 'a number'}, but is “${text}”`,
  );
};

const AGO = /^(?:\d{1,6}[smhd]|today|yesterday)$/;

/** A time ago becomes a time; the server reads every other text. */
const timeIn = ({ name }: Field, text: string, given: Given): string =>
  AGO.test(text) ? (timeOf({ ...given, values: new Map([[name, [text]]]) }, name) ?? text) : text;

const jsonIn = (name: string, text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--${name} must be JSON, but is “${text}”`);
  }
};
