import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import type { Json } from '#kernel/base/json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { parseJson } from './parse-json.ts';

/** The codings that the parser can decode. */
const CODINGS = /^(?:identity|gzip|deflate|br)?$/i;

const JSON_TYPES = ['application/json', 'application/*+json'];

/**
 * Reads a JSON body, in UTF-8, up to a size; refuses a body of another media type rather than ignoring it.
 */
export const readJsonBody = (bytesMax: number, types: readonly string[] = JSON_TYPES): RequestHandler[] => [
  ...readTypedBody(bytesMax, types),
  (request, _response, next) => {
    request.body = Buffer.isBuffer(request.body) ? jsonIn(request.body) : undefined;
    next();
  },
];

/** The value of a JSON body. */
export const jsonIn = (bytes: Buffer): Json => parseJson(decode(bytes));

/** Reads the bytes of a body of one of these media types, up to a size. */
export const readTypedBody = (bytesMax: number, types: readonly string[]): RequestHandler[] => [
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
