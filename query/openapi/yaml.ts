import type { Json, JsonObject } from '#kernel/base/json.ts';

/**
 * JSON as YAML 1.2 in blocks. A text is plain only if no version of YAML reads it otherwise; any other is written as
 * in JSON, which YAML contains, so that nothing depends on its rules for plain texts.
 */
export const yamlOf = (document: JsonObject): string =>
  `${isFilled(document) ? linesOf(document, '').join('\n') : '{}'}\n`;

const STEP = '  ';

const linesOf = (value: readonly Json[] | JsonObject, indent: string): readonly string[] =>
  Array.isArray(value)
    ? value.flatMap((each: Json) => entryLines(`${indent}-`, each, indent))
    : Object.entries(value).flatMap(([key, each]) =>
        each === undefined ? [] : entryLines(`${indent}${keyOf(key)}:`, each, indent),
      );

const entryLines = (start: string, value: Json, indent: string): readonly string[] => {
  if (isFilled(value)) return [start, ...linesOf(value, indent + STEP)];
  if (typeof value === 'string' && isBlock(value))
    return [`${start} |-`, ...value.split('\n').map((line) => (line === '' ? '' : indent + STEP + line))];
  return [`${start} ${scalarOf(value)}`];
};

const isFilled = (value: Json): value is readonly Json[] | JsonObject =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

const scalarOf = (value: Json): string =>
  typeof value === 'string' && isPlain(value) ? value : asJson(value);

const keyOf = (key: string): string => (PLAIN_KEY.test(key) && !isWord(key) ? key : asJson(key));

const isPlain = (text: string): boolean => PLAIN.test(text) && !isWord(text);

/** No colon, hash or character that may begin something else; no space at the end. */
const PLAIN = /^[A-Za-z][\w.,;()'’/+-]*(?: [\w.,;()'’/+-]+)*$/;
const PLAIN_KEY = /^[A-Za-z/$][\w/{}.+-]*$/;

/** The words of YAML 1.1 for values of other types, and its numbers without digits before the exponent. */
const isWord = (text: string): boolean =>
  /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|e[-+]?[\d_]+)$/i.test(text);

/** Several lines without spaces at their ends, in which every character is printable. */
const isBlock = (text: string): boolean => BLOCK.test(text);
const LINE = String.raw`[^\s\p{C}](?:[^\n\p{C}\u2028\u2029]*[^\s\p{C}])?`;
const BLOCK = new RegExp(String.raw`^${LINE}(?:\n+${LINE})+$`, 'u');

/** Characters that JSON may show, and readers of YAML refuse or take for the end of a line. */
const HIDDEN = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

const asJson = (value: Json): string =>
  JSON.stringify(value).replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
