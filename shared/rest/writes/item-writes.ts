import { Router } from 'express';
import { articleRoutes } from './articles.ts';
import { commentRoutes } from './comments.ts';
import { userRoutes } from './users.ts';
import { webhookRoutes } from './webhooks.ts';
import type { WriteDependencies } from './write-routes.ts';

/** The writes of items but for covers. `command` serves them, and `query` those that ask for the item as it is then. */
export const itemWrites = (dependencies: WriteDependencies): Router =>
  Router().use(userRoutes(dependencies), articleRoutes(dependencies), commentRoutes(dependencies), webhookRoutes(dependencies));
