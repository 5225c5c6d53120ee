import { Router } from 'express';
import type { Domain } from '#kernel/registry/registry.ts';
import { apiPrefix } from './api-prefix.ts';
import { methodRoutes } from './methods.ts';
import { resourcesOf } from './operations.ts';

/** What every process that serves resources mounts before their routes: their other name, and which methods they take. */
export const resourcePaths = (domain: Domain): Router => {
  const operations = resourcesOf(domain);
  return Router().use(apiPrefix(operations), methodRoutes(operations));
};
