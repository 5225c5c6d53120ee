import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request, Response } from 'express';

/** Bytes that are sent again and again. */
export type Compressible = {
  readonly bytes: Buffer;
  /** Made once, when somebody first asks for it. */
  gzipped(): Promise<Buffer>;
};

const GZIP_LEVEL = 9;
const compress = promisify(gzip);

export const compressible = (bytes: Buffer): Compressible => {
  let gzipped: Promise<Buffer> | undefined;
  return {
    bytes,
    gzipped() {
      gzipped ??= compress(bytes, { level: GZIP_LEVEL });
      return gzipped;
    },
  };
};

/** Whether the client takes it compressed; the answer says that it depends on that. */
export const takesGzip = (request: Request, response: Response): boolean => {
  response.vary('Accept-Encoding');
  return request.acceptsEncodings(['gzip', 'identity']) === 'gzip';
};

export const sendCompressible = async (response: Response, content: Compressible, isGzipped: boolean): Promise<void> => {
  if (isGzipped) response.set('Content-Encoding', 'gzip');
  response.send(isGzipped ? await content.gzipped() : content.bytes);
};
