import type { RequestHandler } from 'express';
import type { RestOperation } from './operation.ts';

/** The same resources are under `/api` as well. Mount it before their routes; links in answers stay as they are. */
export const apiPrefix = (operations: readonly RestOperation[]): RequestHandler => {
  // Only what is ours: a path such as `/api/token` is not another way to what has nothing to do with resources.
  const resources = new Set(operations.map(({ path }) => path.split('/')[1]));
  // After the origin, which clients of proxies name as well (RFC 9112, section 3.2.2).
  const prefixed = new RegExp(`^(https?://[^/?#]+)?/api(?=/(?:${[...resources].join('|')})(?:[/?]|$))`, 'i');
  return (request, _response, next) => {
    request.url = request.url.replace(prefixed, (_prefix, origin = '') => origin);
    next();
  };
};
