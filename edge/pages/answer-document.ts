import type { RequestHandler } from 'express';
import { type Coding, codingFor } from '#edge/http/content-coding.ts';
import { demandMatch, entityTagOf, isKnownToReader } from '#edge/http/entity-tag.ts';
import { compressible, sendCompressible } from './compressible.ts';

type Document = {
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Documents change with the release or the settings, and have no versions. */
const DOCUMENT_VERSION = 0;

/** A document that is the same for all callers while the process runs, with cheap revalidation. */
export const answerDocument = ({ type, text, headers = {} }: Document): RequestHandler => {
  const bytes = Buffer.from(text);
  const content = compressible(bytes);
  // Strong tags identify bytes, so each encoding has its own.
  const tags = new Map<Coding, string>();
  const tagOf = (coding: Coding): string => {
    const known = tags.get(coding);
    if (known !== undefined) return known;
    const tag = entityTagOf(
      DOCUMENT_VERSION,
      [coding, ...Object.values(headers), bytes.toString()].join('\n'),
    );
    tags.set(coding, tag);
    return tag;
  };
  return async (request, response) => {
    const coding = codingFor(request, response);
    const entityTag = tagOf(coding);
    demandMatch(request, entityTag);
    response.set({ ETag: entityTag, 'Cache-Control': 'public, no-cache', ...headers });
    if (isKnownToReader(request, entityTag)) response.status(304).end();
    else await sendCompressible(response.type(type), content, coding);
  };
};
