// Over 200 lines, because it is one parser: a body of JSON, with every limit and refusal.
import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pointerTo } from '#shared/json-pointers.ts';

/** The codings that the parser can decode. */
const CODINGS = /^(?:identity|gzip|deflate|br)?$/i;

const JSON_TYPES = ['application/json', 'application/*+json'];

/** No body of ours comes near; without these limits a small body can take long to check. */
const VALUES_MAX = 10_000;
const LEVELS_MAX = 100;

/**
 * Reads a JSON body, in UTF-8, up to a size; refuses a body of another media type rather than ignoring it.
 */
export const readJsonBody = (bytesMax: number, types: readonly string[] = JSON_TYPES): RequestHandler[] => [
  (request, _response, next) => {
    const {
      'content-type': type,
      'content-encoding': coding = '',
      'content-length': length = '0',
    } = request.headers;
    // `is` returns null if there is no body.
    if (!types.includes(type ?? '') && (request.is([...types]) === false || !isUtf8(type))) {
      const header = request.method === 'PATCH' ? 'Accept-Patch' : 'Accept';
      throw new HttpProblem('unsupported_media_type', {
        detail: `Send ${types.join(' or ')}.`,
        headers: { [header]: types.join(', ') },
      });
    }
    if (!CODINGS.test(coding))
      throw new HttpProblem('unsupported_media_type', {
        detail: 'Send it without a Content-Encoding, or with gzip, deflate or br.',
        headers: { 'Accept-Encoding': 'gzip, deflate, br' },
      });
    // The parser would read all of it before it refuses.
    if (Number(length) > bytesMax) throw tooLarge(bytesMax);
    next();
  },
  readBytes(bytesMax, types),
  (request, _response, next) => {
    request.body = Buffer.isBuffer(request.body) ? parseJson(decode(request.body)) : undefined;
    next();
  },
];

/**
 * The body as it is, or none. Almost all are uncompressed, and only need concatenation. A body without a
 * length is refused as soon as it is too long; the parser would read on until its end, whenever that comes.
 */
const readBytes = (bytesMax: number, types: readonly string[]): RequestHandler => {
  const readAnyBytes = express.raw({ limit: bytesMax, type: [...types] });
  return (request, response, next) => {
    const {
      'content-length': length,
      'transfer-encoding': transfer,
      'content-encoding': encoding,
    } = request.headers;
    if (encoding !== undefined || (length === undefined && transfer === undefined))
      return readAnyBytes(request, response, next);
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= bytesMax) return;
      request.off('data', take).off('error', fail).off('end', pass);
      letGoBy(request);
      next(tooLarge(bytesMax));
    };
    const fail = (cause: Error): void =>
      next(new HttpProblem('malformed_body', { detail: 'The body is incomplete.', cause }));
    const pass = (): void => {
      // A response may last long, and the listeners would keep the chunks.
      request.off('data', take).off('error', fail);
      request.body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      next();
    };
    request.on('data', take).once('error', fail).once('end', pass);
  };
};

const tooLarge = (bytesMax: number) =>
  new HttpProblem('body_too_large', { detail: `At most ${bytesMax} bytes are accepted.` });

/** A client that still sends may not see the response if the connection ended immediately. */
const LINGER_MS = 1_000;

const letGoBy = (request: IncomingMessage): void => {
  request.on('error', () => {}).resume();
  setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, LINGER_MS).unref();
};

/** JSON between systems is in UTF-8 (RFC 8259, section 8.1), and declares that or nothing. */
const isUtf8 = (contentType = ''): boolean => {
  const [, charset] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType) ?? [];
  return charset === undefined || /^utf-?8$/i.test(charset);
};

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

const decode = (bytes: Buffer): string => {
  try {
    return UTF_8.decode(bytes);
  } catch (cause) {
    throw new HttpProblem('malformed_body', { detail: 'The body is not in UTF-8.', cause });
  }
};

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
