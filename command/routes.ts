import { Router } from 'express';
import type { WriteDependencies } from '#shared/rest/writes/write-routes.ts';
import { type CoverDependencies, coverRoutes } from './articles/cover-routes.ts';
import { articleRoutes } from './articles/routes.ts';
import { commentRoutes } from './comments/routes.ts';
import { userRoutes } from './users/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Everything that can be written over REST. */
export const commandRoutes = (dependencies: WriteDependencies & CoverDependencies): Router =>
  Router().use(
    userRoutes(dependencies),
    articleRoutes(dependencies),
    coverRoutes(dependencies),
    commentRoutes(dependencies),
    webhookRoutes(dependencies),
  );
