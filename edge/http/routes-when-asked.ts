import type { RequestHandler } from 'express';
import { whenAsked } from '#shared/when-asked.ts';

/** Routes whose code is loaded with the first request for them. */
export const routesWhenAsked = (load: () => Promise<RequestHandler>): RequestHandler => {
  const loaded = whenAsked(load);
  return async (request, response, next) => (await loaded())(request, response, next);
};
