import { Router } from 'express';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { OpenApiOptions } from '../query/openapi/document.ts';
import type { QueryPart } from '../query/part.ts';

/** The documentation, as a part of the role whose interface it describes. */
export const part: QueryPart = {
  links: [{ rel: 'docs', href: '/docs', title: 'The interface, for people' }],
  open: ({ domain, config }) => ({ routes: docsRoutes({ ...config, domain }) }),
};

/** `GET /docs`: the documentation, served entirely from here. */
export const docsRoutes = (options: OpenApiOptions): Router => {
  const served = routesWhenAsked(async () => (await import('./serve.ts')).serveDocs(options));
  return Router({ strict: true }).all(['/docs', '/docs/{*path}'], served);
};
