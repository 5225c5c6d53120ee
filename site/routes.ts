import { Router } from 'express';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { OpenApiOptions } from '../query/openapi/document.ts';

/** `GET /docs`: the documentation, served entirely from here. */
export const docsRoutes = (options: OpenApiOptions): Router => {
  const served = routesWhenAsked(async () => (await import('./serve.ts')).serveDocs(options));
  return Router({ strict: true }).all(['/docs', '/docs/{*path}'], served);
};
