import type { RequestHandler } from 'express';
import { OPERATIONS } from './operations.ts';

/** The same resources are under `/api` as well. Mount it before their routes; links in answers stay as they are. */
export const apiPrefix: RequestHandler = (request, _response, next) => {
  if (PREFIXED.test(request.url)) request.url = request.url.slice(PREFIX.length);
  next();
};

const PREFIX = '/api';

/** Only what is ours: a path such as `/api/token` is not another way to what has nothing to do with resources. */
const RESOURCES = new Set(Object.values(OPERATIONS).map(({ path }) => path.split('/')[1]));
const PREFIXED = new RegExp(`^${PREFIX}/(?:${[...RESOURCES].join('|')})(?=[/?]|$)`, 'i');
