import type { RequestHandler } from 'express';
import { entityTagOf, isKnownToReader } from '#shared/http/entity-tag.ts';

const PAGE_VERSION = 0;

/** A page that is the same for everybody, under a content security policy. */
export const answerPage = (html: string, policy: string): RequestHandler => {
  const entityTag = entityTagOf(PAGE_VERSION, `${policy}\n${html}`);
  return (request, response) => {
    response.set({ ETag: entityTag, 'Cache-Control': 'public, no-cache' });
    response.set({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'no-referrer' });
    if (isKnownToReader(request, entityTag)) response.status(304).end();
    else response.type('html').send(html);
  };
};
