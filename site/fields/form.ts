import { CURSOR_PATTERN } from '#kernel/base/cursor.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { type Html, html } from '#shared/html.ts';

/** Longer patterns do not help a reader. */
const PATTERN_CHARACTERS_MAX = 24;
/** Forbidden in all text, so not worth mentioning. */
const NUL = '\\u0000';

/** The anchor of a named schema on the page. */
export const schemaId = (name: string): string => `schema-${name}`;

/** A JSON Schema in words; a named schema is a link. */
export const formOf = (schema: JsonObject): Html => {
  if (typeof schema.$ref === 'string') return linkTo(schema.$ref);
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) return inWords(alternatives.map(formOf), ', or ');
  if (Array.isArray(schema.enum)) return html`one of ${inWords(schema.enum.map(String).map(code), ', ')}`;
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.pattern === CURSOR_PATTERN) return html`a cursor`;
  if (schema.type === 'array') return listOf(schema);
  if (schema.type === 'object') return objectOf(schema);
  return scalarOf(schema);
};

/** False for the generated names of zod, which it gives to recursive schemas such as any JSON. */
export const isNamed = (name: string): boolean => !name.startsWith('__');

const linkTo = (reference: string): Html => {
  const name = reference.split('/').at(-1) ?? '';
  if (!isNamed(name)) return html`any JSON`;
  return html`<a href="#${schemaId(name)}">${name}</a>`;
};

const alternativesOf = (schema: JsonObject): readonly JsonObject[] => {
  const listed = [schema.anyOf, schema.oneOf].find(Array.isArray) ?? [];
  return listed
    .map(asObject)
    .flatMap((each) => (alternativesOf(each).length > 0 ? alternativesOf(each) : [each]));
};

const listOf = ({ minItems, maxItems, items }: JsonObject): Html =>
  html`${['a list of', spanOf(minItems, maxItems)].filter(Boolean).join(' ')}: ${formOf(asObject(items))}`;

const objectOf = ({ properties, additionalProperties }: JsonObject): Html => {
  const values = asObject(additionalProperties);
  if (properties === undefined && Object.keys(values).length > 0)
    return html`an object; each of its values: ${formOf(values)}`;
  return html`an object`;
};

const scalarOf = (schema: JsonObject): Html => {
  const { type = 'anything', pattern, format } = schema;
  const span =
    type === 'string'
      ? spanOf(schema.minLength, schema.maxLength)
      : spanOf(schema.minimum, schema.maximum ?? schema.exclusiveMaximum);
  const parts = [
    [type].flat().join(' or '),
    span && (type === 'string' ? `${span} characters` : span),
    typeof format === 'string' && format,
    typeof pattern === 'string' && format === undefined && isReadable(pattern) && code(pattern),
  ];
  return html`${inWords(parts.filter(Boolean) as readonly (Html | string)[], ', ')}${
    schema.default !== undefined && html`, by default ${code(JSON.stringify(schema.default))}`
  }`;
};

const isReadable = (pattern: string): boolean =>
  pattern.length <= PATTERN_CHARACTERS_MAX && !pattern.includes(NUL);

const spanOf = (least: Json | undefined, most: Json | undefined): string => {
  const isBounded = most !== undefined && most !== Number.MAX_SAFE_INTEGER;
  if (least !== undefined && isBounded) return `${least} to ${most}`;
  return isBounded ? `at most ${most}` : '';
};

const code = (text: string): Html => html`<code>${text}</code>`;

/** Lists each alternative once. */
const inWords = (parts: readonly (Html | string)[], between: string): Html => {
  const distinct = new Map(parts.map((part) => [part.toString(), part]));
  return html`${[...distinct.values()].map((part, index) => html`${index > 0 && between}${part}`)}`;
};

export const asObject = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
