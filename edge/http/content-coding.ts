import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { Request, Response } from 'express';
import { remember } from '#shared/remember.ts';

export type Coding = 'zstd' | 'br' | 'gzip' | 'identity';

/** Below that, compression costs as much CPU as the rest of a read, and saves two or three packets. */
const BYTES_MIN = 4_096;
/**
 * The total of single responses that are being compressed; file access and name resolution wait in the same
 * thread pool.
 */
const UNDERWAY_BYTES_MAX = 1_048_576;
export const isWorthCompressing = (text: string): boolean => text.length >= BYTES_MIN;

/** For single responses: fast levels. */
const QUICK = { zstd: 3, br: 4, gzip: 5 } as const;
/** For content that is compressed once and sent often. */
export const THOROUGH = { zstd: 15, br: 10, gzip: 9 } as const;
type Levels = Readonly<Record<Exclude<Coding, 'identity'>, number>>;

const [zstd, brotli, zip] = [promisify(zstdCompress), promisify(brotliCompress), promisify(gzip)];

/** Off the main thread. */
export const compressAs = async (coding: Coding, bytes: Buffer, levels: Levels = QUICK): Promise<Buffer> => {
  switch (coding) {
    case 'zstd':
      // Without the size, each takes the memory of a large one.
      return zstd(bytes, {
        pledgedSrcSize: bytes.length,
        params: { [constants.ZSTD_c_compressionLevel]: levels.zstd },
      });
    case 'br':
      return brotli(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: levels.br,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      });
    case 'gzip':
      return zip(bytes, { level: levels.gzip });
    case 'identity':
      return bytes;
  }
};

/** At equal weights the first wins. */
const CODINGS = ['zstd', 'br', 'gzip'] as const;

/** The coding that the client prefers (RFC 9110, section 12.5.3); sets `Vary`. */
export const codingFor = (request: Request, response: Response): Coding => {
  response.vary('Accept-Encoding');
  return preferredCoding(request.headers['accept-encoding']);
};

export const preferredCoding = (header: string | string[] | undefined): Coding =>
  header === undefined || header === '' ? 'identity' : choose(String(header));

/** Clients send the same few headers again and again. */
const choose = remember((text): Coding => {
  const weights = new Map(text.toLowerCase().split(',').map(weightOf));
  const rest = weights.get('*') ?? 0;
  const [best] = CODINGS.map((coding) => ({ coding, weight: weights.get(coding) ?? rest })).toSorted(
    (one, other) => other.weight - one.weight,
  );
  if (best === undefined || best.weight === 0) return 'identity';
  return best.weight < (weights.get('identity') ?? 0) ? 'identity' : best.coding;
});

const weightOf = (member: string): readonly [string, number] => {
  const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
  const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  const weight = given === undefined ? 1 : Number(given);
  return [name, weight >= 0 && weight <= 1 ? weight : 0];
};

/**
 * A single response. It must hold no secret: beside text that a stranger may choose, its compressed length
 * would reveal it. Not for streams.
 */
type Answer = {
  /** A strong tag identifies bytes, so a compressed response gets another one, with the same version. */
  readonly entityTag: string | undefined;
  send(): void;
};

/**
 * Sends the response uncompressed if too much is being compressed already. Compares the client’s tag with
 * that of its preferred coding.
 */
export const answerIn = (
  request: Request,
  response: Response,
  { text, entityTag }: { text: string; entityTag?: string },
): Answer => {
  const wanted = codingFor(request, response);
  const coding = isWorthCompressing(text) ? wanted : 'identity';
  if (coding === 'identity') return { entityTag, send: () => sendText(response, text) };
  return {
    entityTag: entityTag && `${entityTag.slice(0, -1)}.${coding}"`,
    send() {
      const bytes = Buffer.from(text);
      if (underwayBytes > 0 && underwayBytes + bytes.length > UNDERWAY_BYTES_MAX) {
        if (entityTag !== undefined) response.setHeader('ETag', entityTag);
        sendText(response, text);
        return;
      }
      sendCompressed(response, coding, bytes);
    },
  };
};

/** Sends head and body in one write. Express would convert a longer text to bytes first, and write twice. */
const sendText = (response: Response, text: string): void => {
  sayCharset(response);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
};

const sayCharset = (response: Response): void => {
  const type = String(response.getHeader('Content-Type'));
  if (!type.includes('charset')) response.setHeader('Content-Type', `${type}; charset=utf-8`);
};

let underwayBytes = 0;

const sendCompressed = (response: Response, coding: Coding, bytes: Buffer): void => {
  underwayBytes += bytes.length;
  compressAs(coding, bytes)
    .finally(() => {
      underwayBytes -= bytes.length;
    })
    .then(
      (compressed) => {
        sayCharset(response);
        response.setHeader('Content-Encoding', coding);
        response.send(compressed);
      },
      (cause: Error) => response.destroy(cause),
    );
};
