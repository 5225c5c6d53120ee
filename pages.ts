import { type RequestHandler, Router } from 'express';
import { consoleRoutes } from './console/routes.ts';
import type { OpenApiOptions } from './query/openapi/document.ts';
import { docsRoutes } from './site/routes.ts';

/** The pages that the query role serves beside its interface: the documentation and the console. */
export const servePages = (options: OpenApiOptions): RequestHandler =>
  Router().use(docsRoutes(options), consoleRoutes(options));
