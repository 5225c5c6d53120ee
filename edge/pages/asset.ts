import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { codingFor } from '#edge/http/content-coding.ts';
import { type Compressible, compressible, sendCompressible } from './compressible.ts';

/** A file of a page, at an address that changes with its bytes. */
export type Asset = Compressible & { readonly path: string; readonly type: string; readonly bytes: Buffer };

export const JAVASCRIPT = 'text/javascript';
export const CSS = 'text/css';
export const SVG = 'image/svg+xml';

const DIGEST_CHARACTERS = 16;

export const digestOf = (bytes: Buffer | string): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, DIGEST_CHARACTERS);

/** `page` is the path of the page that loads it. Files that belong together share one digest. */
export const createAsset = (
  page: string,
  name: string,
  { type, bytes }: Pick<Asset, 'type' | 'bytes'>,
  digest = digestOf(bytes),
): Asset => ({ path: `${page}/assets/${digest}/${name}`, type, bytes, ...compressible(bytes) });

const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Its address changes with its bytes, so it may be cached forever. */
export const answerAsset =
  (asset: Asset): RequestHandler =>
  async (request, response) => {
    response.set('Cache-Control', IMMUTABLE).type(asset.type);
    await sendCompressible(response, asset, codingFor(request, response));
  };
