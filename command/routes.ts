import type { RequestHandler } from 'express';
import { inSequence } from '#edge/http/in-sequence.ts';
import { itemWrites } from '#edge/rest/writes/item-writes.ts';
import type { WriteDependencies } from '#edge/rest/writes/write-routes.ts';
import { loadAdditions, type Part } from '#process/part.ts';
import type { CommandPartResources } from './part.ts';
import { uploadRoutes } from './uploads/routes.ts';
import type { UploadDependencies } from './uploads/upload-target.ts';

/** All writes over REST. */
export const commandRoutes = (dependencies: WriteDependencies & UploadDependencies): RequestHandler =>
  inSequence([itemWrites(dependencies), uploadRoutes(dependencies)]);

/** The routes of the parts, beside those. */
export const openPartRoutes = async (
  parts: readonly Part[],
  resources: CommandPartResources,
): Promise<readonly RequestHandler[]> => {
  const additions = await loadAdditions(parts, 'command');
  return Promise.all(additions.flatMap((part) => part.routesOf?.(resources) ?? []));
};
