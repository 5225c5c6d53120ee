import { type RequestHandler, Router } from 'express';
import type { OpenApiOptions } from '../query/openapi/document.ts';

/** `GET /docs`: the documentation, served entirely from here. */
export const docsRoutes = (options: OpenApiOptions): Router => {
  let served: Promise<Router> | undefined;
  // Loaded at the first request, because a start needs none of it.
  const lazily: RequestHandler = async (request, response, next) => {
    served ??= import('./serve.ts').then(({ serveDocs }) => serveDocs(options));
    (await served)(request, response, next);
  };
  return Router({ strict: true }).all(['/docs', '/docs/{*path}'], lazily);
};
