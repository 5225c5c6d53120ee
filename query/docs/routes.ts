import { type RequestHandler, Router } from 'express';
import type { OpenApiOptions } from '../openapi/document.ts';

/** `GET /docs`: everything that there is to read, served by ourselves to the last byte. */
export const docsRoutes = (options: OpenApiOptions): Router => {
  let served: Promise<Router> | undefined;
  // Loaded by the first reader, because a start needs none of it.
  const lazily: RequestHandler = async (request, response, next) => {
    served ??= import('./serve.ts').then(({ serveDocs }) => serveDocs(options));
    (await served)(request, response, next);
  };
  return Router({ strict: true }).all(['/docs', '/docs/{*path}'], lazily);
};
