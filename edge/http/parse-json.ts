import type { Json, JsonObject } from '#kernel/base/json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pointerTo } from '#shared/json-pointers.ts';

/** No body of ours comes near; without these limits a small body can take long to check. */
const VALUES_MAX = 10_000;
const LEVELS_MAX = 100;

/**
 * Parses JSON and refuses names that parsers disagree about: duplicates in an object, of which some take the
 * first and some the last (RFC 8259, section 4), and `__proto__`, which some take for the prototype.
 */
export const parseJson = (text: string): Json => {
  const { names, values, levels } = measure(text);
  if (values > VALUES_MAX || levels > LEVELS_MAX)
    throw new HttpProblem('body_too_large', {
      detail: `At most ${VALUES_MAX} values in ${LEVELS_MAX} levels are accepted.`,
    });
  const parsed = parse(text);
  if (namesIn(parsed) !== names)
    throw new HttpProblem('malformed_body', { detail: 'An object has the same name twice.' });
  return parsed;
};

const parse = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new HttpProblem('malformed_body', { cause });
  }
};

/**
 * Counts outside of strings: colons, each of which follows a name; beginnings of values; and the depth of
 * nesting.
 */
const measure = (
  text: string,
): { readonly names: number; readonly values: number; readonly levels: number } => {
  let [names, values, level, levels] = [0, 1, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COLON:
        names += 1;
        break;
      case COMMA:
        values += 1;
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        values += 1;
        level += 1;
        if (level > levels) levels = level;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        level -= 1;
        break;
    }
  }
  return { names, values, levels };
};

const [QUOTE, COLON, COMMA, BACKSLASH] = [0x22, 0x3a, 0x2c, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The end of the string that begins at a quotation mark; the end of the text if it is not closed. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
};

/** Behind an odd number of backslashes; no backslash stands directly before the opening quotation mark. */
const isEscaped = (text: string, at: number): boolean => {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
};

/** The number of names in all objects, without duplicates. The depth was checked before. */
const namesIn = (value: Json | undefined, path: readonly PropertyKey[] = []): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const isObject = !Array.isArray(value);
  if (isObject && Object.hasOwn(value, '__proto__')) throw forbiddenName([...path, '__proto__']);
  let names = 0;
  for (const name in value) {
    const child = (value as JsonObject)[name];
    if (isObject) names += 1;
    // Most values have no names, and need no path.
    if (typeof child === 'object' && child !== null) names += namesIn(child, [...path, name]);
  }
  return names;
};

const forbiddenName = (path: readonly PropertyKey[]): HttpProblem =>
  new HttpProblem('invalid_request', {
    extensions: { errors: [{ pointer: pointerTo(path), detail: 'This name is not accepted.' }] },
  });
