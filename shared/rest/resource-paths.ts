import { Router } from 'express';
import { apiPrefix } from './api-prefix.ts';
import { methodRoutes } from './methods.ts';

/** What every process that serves resources mounts before their routes: their other name, and which methods they take. */
export const resourcePaths = (): Router => Router().use(apiPrefix, methodRoutes());
