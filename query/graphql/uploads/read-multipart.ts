import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { Request, RequestHandler, Response } from 'express';
import { parseJson } from '#edge/http/parse-json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { createIncomingFiles, type IncomingFiles } from './incoming-files.ts';
import { FILES_MAX, type FileMap, placeFiles, readMap } from './place-files.ts';

/** Headers that need a CORS preflight. A form on any other page can send everything else of the request. */
const PREFLIGHT_HEADERS = [
  'GraphQL-Require-Preflight',
  'Apollo-Require-Preflight',
  'X-Apollo-Operation-Name',
];

/**
 * Reads the fields of a multipart request into its body; the files keep arriving while the operation runs.
 */
export const readMultipart =
  (bodyBytesMax: number, fileBytesMax: number): RequestHandler =>
  async (request, response, next) => {
    if (PREFLIGHT_HEADERS.every((name) => !request.get(name)))
      throw new HttpProblem('preflight_required', { detail: `Send the header ${PREFLIGHT_HEADERS[0]}.` });
    if (Number(request.get('Content-Length') ?? 0) > FILES_MAX * fileBytesMax + FIELDS_MAX * bodyBytesMax)
      throw new HttpProblem('body_too_large', {
        detail: `At most ${FILES_MAX} files of ${fileBytesMax} bytes each are accepted.`,
      });
    const parser = createParser(request, { bodyBytesMax, fileBytesMax });
    const files = createIncomingFiles();
    discardAfter(response, { request, parser, files });
    request.body = await readFields(parser, files, () => feed(request, parser, files));
    next();
  };

const FIELDS_MAX = 2;
const PART_HEADERS_MAX = 20;
const PART_HEADER_BYTES_MAX = 4_096;

type Limits = { readonly bodyBytesMax: number; readonly fileBytesMax: number };

const createParser = (request: Request, { bodyBytesMax, fileBytesMax }: Limits): BusboyInstance => {
  const limits = {
    fieldSize: bodyBytesMax,
    // One byte beyond the limit, so that the reader sees that the file is too large.
    fileSize: fileBytesMax + 1,
    files: FILES_MAX,
    parts: FIELDS_MAX + FILES_MAX,
    headerPairs: PART_HEADERS_MAX,
    headerSize: PART_HEADER_BYTES_MAX,
  };
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': request.get('Content-Type') ?? '' },
      limits,
    });
  } catch (cause) {
    throw malformed('The Content-Type has no boundary.', cause);
  }
};

/**
 * The order of parts: `operations`, `map`, then the files. The operation begins with the first file, or the end, so
 * that a further field is refused before anything happens.
 */
const readFields = (parser: BusboyInstance, files: IncomingFiles, start: () => void): Promise<unknown> => {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  let operations: unknown;
  let map: FileMap | undefined;
  let placed: unknown;
  const orReject = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      reject(error);
      // Of an operation that has begun, no further file is read.
      files.end(error as Error);
    }
  };
  const takeField = (name: string, value: string): void => {
    if (name === 'operations' && operations === undefined) operations = parseJson(value);
    else if (name === 'map' && operations !== undefined && map === undefined) {
      map = readMap(value);
      placed = placeFiles(operations, map, files.uploadOf);
    } else throw malformed(ORDER);
  };
  parser.on('field', (name, value, _isNameTruncated, isTruncated) =>
    orReject(() => {
      if (isTruncated) throw new HttpProblem('body_too_large', { detail: `The field ${name} is too large.` });
      takeField(name, value);
    }),
  );
  parser.on('file', (name, stream, fileName, ...[, type]) =>
    orReject(() => {
      if (map?.has(name)) files.arrive(name, { type, fileName, stream });
      else stream.on('error', () => {}).resume();
      if (placed === undefined) throw malformed(ORDER);
      resolve(placed);
    }),
  );
  parser.on('finish', () => {
    if (placed === undefined) reject(malformed(ORDER));
    else resolve(placed);
    files.end();
  });
  parser.on('error', (cause) => {
    const broken = malformed('The body is not well-formed multipart/form-data.', cause);
    reject(broken);
    files.end(broken);
  });
  start();
  return promise;
};

const ORDER = 'Send the field operations, then the field map, then the files that it names.';

const feed = (request: Request, parser: BusboyInstance, files: IncomingFiles): void => {
  request.pipe(parser);
  request.once('close', () => {
    if (request.complete) return;
    const brokenOff = malformed('The request was cut off.');
    files.end(brokenOff);
    parser.emit('error', brokenOff);
  });
};

/** Discards files still unread when the response is sent, so that the client gets to reading it. */
const discardAfter = (
  response: Response,
  {
    request,
    parser,
    files,
  }: { readonly request: Request; readonly parser: BusboyInstance; readonly files: IncomingFiles },
): void => {
  response.once('finish', () => {
    request.unpipe(parser);
    request.resume();
    files.end(malformed('The response was sent before the file was read.'));
  });
};

const malformed = (detail: string, cause?: unknown) =>
  new HttpProblem('malformed_request', { detail, cause });
