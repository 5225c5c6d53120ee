import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

/** A file of a page, under an address that changes with its bytes. */
export type Asset = {
  readonly path: string;
  readonly type: string;
  readonly bytes: Buffer;
  /** Made once, when somebody first asks for it. */
  gzipped(): Promise<Buffer>;
};

export const JAVASCRIPT = 'text/javascript';
export const CSS = 'text/css';

const DIGEST_CHARACTERS = 16;
const GZIP_LEVEL = 9;
const compress = promisify(gzip);

export const digestOf = (bytes: Buffer | string): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, DIGEST_CHARACTERS);

/** `page` is the path of the page that loads it; what belongs together has one digest. */
export const createAsset = (
  page: string,
  name: string,
  { type, bytes }: Pick<Asset, 'type' | 'bytes'>,
  digest = digestOf(bytes),
): Asset => {
  let gzipped: Promise<Buffer> | undefined;
  return {
    path: `${page}/assets/${digest}/${name}`,
    type,
    bytes,
    gzipped() {
      gzipped ??= compress(bytes, { level: GZIP_LEVEL });
      return gzipped;
    },
  };
};

const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Its address changes with its bytes, so it never needs to be asked for again. */
export const answerAsset =
  ({ type, bytes, gzipped }: Asset): RequestHandler =>
  async (request, response) => {
    const isGzipped = request.acceptsEncodings(['gzip', 'identity']) === 'gzip';
    response.vary('Accept-Encoding').set('Cache-Control', IMMUTABLE).type(type);
    if (isGzipped) response.set('Content-Encoding', 'gzip');
    response.send(isGzipped ? await gzipped() : bytes);
  };
