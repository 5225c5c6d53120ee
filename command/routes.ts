import { Router } from 'express';
import { itemWrites } from '#shared/rest/writes/item-writes.ts';
import type { WriteDependencies } from '#shared/rest/writes/write-routes.ts';
import { type UploadDependencies, uploadRoutes } from './uploads/upload-routes.ts';

/** Everything that can be written over REST. */
export const commandRoutes = (dependencies: WriteDependencies & UploadDependencies): Router =>
  Router().use(itemWrites(dependencies), uploadRoutes(dependencies));
