import type { RequestHandler } from 'express';
import { entityTagOf, isKnownToReader } from '#shared/http/entity-tag.ts';
import { compressible, sendCompressible, takesGzip } from './compressible.ts';

type Document = { readonly type: string; readonly text: string; readonly headers?: Readonly<Record<string, string>> };

/** They change with a new version of the program, or with its settings, and have no versions of their own. */
const DOCUMENT_VERSION = 0;

/** A text that is the same for everybody, and as long as this process runs: asked for again cheaply. */
export const answerDocument = ({ type, text, headers = {} }: Document): RequestHandler => {
  const content = compressible(Buffer.from(text));
  // Strong tags stand for bytes, and compressed they are others.
  const tagOf = (coding: string): string => entityTagOf(DOCUMENT_VERSION, [coding, ...Object.values(headers), text].join('\n'));
  const [gzipTag, plainTag] = [tagOf('gzip'), tagOf('identity')];
  return async (request, response) => {
    const isGzipped = takesGzip(request, response);
    const entityTag = isGzipped ? gzipTag : plainTag;
    response.set({ ETag: entityTag, 'Cache-Control': 'public, no-cache', ...headers });
    if (isKnownToReader(request, entityTag)) response.status(304).end();
    else await sendCompressible(response.type(type), content, isGzipped);
  };
};
