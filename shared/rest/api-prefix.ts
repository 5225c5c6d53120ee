import type { RequestHandler } from 'express';
import { OPERATIONS } from './operations.ts';

/** The same resources are under `/api` as well. Mount it before their routes; links in answers stay as they are. */
export const apiPrefix: RequestHandler = (request, _response, next) => {
  request.url = request.url.replace(PREFIXED, (_prefix, origin = '') => origin);
  next();
};

/** Only what is ours: a path such as `/api/token` is not another way to what has nothing to do with resources. */
const RESOURCES = new Set(Object.values(OPERATIONS).map(({ path }) => path.split('/')[1]));
/** After the origin, which clients of proxies name as well (RFC 9112, section 3.2.2). */
const PREFIXED = new RegExp(`^(https?://[^/?#]+)?/api(?=/(?:${[...RESOURCES].join('|')})(?:[/?]|$))`, 'i');
