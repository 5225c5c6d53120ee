import { Router } from 'express';
import { itemWrites } from '#shared/rest/writes/item-writes.ts';
import type { WriteDependencies } from '#shared/rest/writes/write-routes.ts';
import { type CoverDependencies, coverRoutes } from './articles/cover-routes.ts';

/** Everything that can be written over REST. */
export const commandRoutes = (dependencies: WriteDependencies & CoverDependencies): Router =>
  Router().use(itemWrites(dependencies), coverRoutes(dependencies));
