import { Router } from 'express';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { entityTagOf, isKnownToReader } from '#shared/http/entity-tag.ts';
import { type OpenApiOptions, openApiDocument } from './document.ts';

/** It changes with a new version of the program only. */
const DOCUMENT_VERSION = 0;

/** `GET /openapi.json`: the interface, for programs. */
export const openApiRoutes = (options: OpenApiOptions): Router => {
  const text = JSON.stringify(openApiDocument(options));
  const entityTag = entityTagOf(DOCUMENT_VERSION, text);
  return Router()
    .get('/openapi.json', (request, response) => {
      response.set({ ETag: entityTag, 'Cache-Control': 'public, no-cache' });
      if (isKnownToReader(request, entityTag)) response.status(304).end();
      else response.type('application/json').send(text);
    })
    .all('/openapi.json', refuseOtherMethods('GET', 'HEAD'));
};
