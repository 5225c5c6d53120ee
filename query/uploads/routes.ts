import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { demandMatch, isKnownToReader } from '#edge/http/entity-tag.ts';
import { recordNow } from '#edge/read-log/recorded.ts';
import type { FileFacts } from '#kernel/base/file-address.ts';
import { nameToSave } from '#kernel/base/file-type.ts';
import { IMAGE_TYPES } from '#kernel/base/image-type.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type BlobName, parseBlobName, typeOfBlob } from '#shared/blobs/blob-name.ts';
import type { Blobs, ByteRange } from '#shared/blobs/blobs.ts';
import { signAddress } from './signed-address.ts';
import type { Visibility, VisibilityOf } from './visibility.ts';

type UploadDependencies = {
  readonly blobs: Pick<Blobs, 'find' | 'read'>;
  readonly visibilityOf: VisibilityOf;
  /** Signs addresses that need no token. */
  readonly key: Buffer;
  readonly before?: readonly RequestHandler[];
};

/** Files, each for callers who may read its item. */
export const uploadRoutes = ({ blobs, visibilityOf, key, before = [] }: UploadDependencies): Router => {
  const find = async (request: Request) => {
    const name = parseBlobName(String(request.params.name));
    const visibility = name && (await visibilityOf(request, name));
    const found = visibility && (await blobs.find(name));
    // The headers of a file leave before its first byte.
    await recordNow(request);
    if (name === undefined || visibility === undefined || found === undefined)
      throw new HttpProblem('not_found');
    return { name, visibility, bytes: found.bytes };
  };
  return Router()
    .get('/uploads/:name', ...before, async (request, response) =>
      answerUpload(blobs, await find(request), { request, response }),
    )
    .all('/uploads/:name', refuseOtherMethods('GET', 'HEAD'))
    .get('/uploads/:name/address', ...before, async (request, response) => {
      const { name, visibility } = await find(request);
      response.set('Cache-Control', 'no-store').json(signAddress(key, name, visibility.facts));
    })
    .all('/uploads/:name/address', refuseOtherMethods('GET', 'HEAD'));
};

type Found = { readonly name: BlobName; readonly visibility: Visibility; readonly bytes: number };
type Exchange = { readonly request: Request; readonly response: Response };

const answerUpload = async (
  blobs: UploadDependencies['blobs'],
  found: Found,
  { request, response }: Exchange,
): Promise<void> => {
  const { name } = found;
  const entityTag = `"${name}"`;
  const caching = { ETag: entityTag, 'Cache-Control': found.visibility.cacheControl };
  response.vary('Authorization');
  demandMatch(request, entityTag);
  if (isKnownToReader(request, entityTag)) return void response.status(304).set(caching).end();
  const range = rangeOf(request, { bytes: found.bytes, entityTag });
  const body = request.method === 'HEAD' ? undefined : await blobs.read(name, range);
  if (body === undefined && request.method !== 'HEAD') throw new HttpProblem('not_found');
  response
    .status(range === undefined ? 200 : 206)
    .set({ ...caching, ...headersOf(name, found.visibility.facts), ...lengthOf(found.bytes, range) });
  if (body === undefined) return void response.end();
  await send(body, response);
};

/**
 * A browser shows a picture on any page, downloads any other file, and executes nothing in either whatever its
 * bytes are.
 */
const headersOf = (name: BlobName, facts: FileFacts | undefined) => ({
  ...(facts === undefined
    ? { 'Content-Type': typeOfBlob(name), 'Content-Disposition': `inline; filename="${name}"` }
    : {
        'Content-Type': facts.type,
        'Content-Disposition': dispositionOf(facts),
        // RFC 9530: of the whole file, also with a part of it.
        'Repr-Digest': `sha-256=:${Buffer.from(facts.sha256, 'hex').toString('base64')}:`,
      }),
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Accept-Ranges': 'bytes',
});

/** Of all types, browsers only display images of pixels inline. */
const dispositionOf = (facts: FileFacts): string => {
  const isImage = IMAGE_TYPES.some((type) => type === facts.type);
  const name = nameToSave(facts);
  const plain = name.replaceAll(/[^\x20-\x7e]|[%"\\]/g, '_');
  const extended = encodeURIComponent(name).replaceAll(/['()*!]/g, percentEncoded);
  return `${isImage ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${extended}`;
};

/** Characters that an extended value cannot contain (RFC 8187). */
const percentEncoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

const lengthOf = (bytes: number, range: ByteRange | undefined): Readonly<Record<string, string>> =>
  range === undefined
    ? { 'Content-Length': String(bytes) }
    : {
        'Content-Length': String(range.end - range.start + 1),
        'Content-Range': `bytes ${range.start}-${range.end}/${bytes}`,
      };

/** One range: first to last byte, from a byte on, or the last bytes. */
const RANGE = /^bytes=\s*(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))\s*$/i;

/** The one range requested. Several ranges or an invalid one get the whole file (RFC 9110, section 14.2). */
const rangeOf = (
  request: Request,
  { bytes, entityTag }: { bytes: number; entityTag: string },
): ByteRange | undefined => {
  const condition = request.get('If-Range');
  const [, first, last, suffix] = RANGE.exec(request.get('Range') ?? '') ?? [];
  if (request.method !== 'GET' || (first ?? suffix) === undefined) return undefined;
  if (condition !== undefined && condition.trim() !== entityTag) return undefined;
  if (first !== undefined && last !== undefined && Number(last) < Number(first)) return undefined;
  const start = first === undefined ? Math.max(0, bytes - Number(suffix)) : Number(first);
  const end = Math.min(bytes - 1, last === undefined ? bytes : Number(last));
  if (start > end)
    throw new HttpProblem('range_not_satisfiable', { headers: { 'Content-Range': `bytes */${bytes}` } });
  return { start, end };
};

/**
 * A body that fails closes the connection, so that no client takes a part for the whole. A client that
 * disconnects is no failure.
 */
const send = async (body: Readable, response: Response): Promise<void> => {
  let failure: { readonly error: Error } | undefined;
  body.once('error', (error) => {
    if (!response.destroyed) failure = { error };
  });
  response.flushHeaders();
  await pipeline(body, response).catch(() => {
    if (failure) throw failure.error;
  });
};
