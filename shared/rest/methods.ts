import { type RequestHandler, Router } from 'express';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { type RestOperation, routeOf } from './operation.ts';

/**
 * What each resource takes, for `OPTIONS` and for methods that it does not take. Mount it before the routes of the roles: the same
 * path may be read in one and written in another, and Express answers `OPTIONS` with the methods of the first that knows the path.
 */
export const methodRoutes = (operations: readonly RestOperation[]): Router => {
  const router = Router();
  for (const [route, ofPath] of Map.groupBy(operations, routeOf)) router.all(route, answerMethods(ofPath));
  return router;
};

const answerMethods = (operations: readonly RestOperation[]): RequestHandler => {
  const methods: readonly string[] = operations.map(({ method }) => method);
  const allow = [...(methods.includes('GET') ? ['GET', 'HEAD'] : []), ...methods.filter((method) => method !== 'GET'), 'OPTIONS'];
  const patch = operations.find(({ method }) => method === 'PATCH')?.body ?? {};
  const headers = { Allow: allow.join(', '), ...(Object.keys(patch).length > 0 && { 'Accept-Patch': Object.keys(patch).join(', ') }) };
  return (request, response, next) => {
    if (request.method === 'OPTIONS') return void response.set(headers).status(204).end();
    // It is served below, or by another process.
    if (allow.includes(request.method)) return next();
    throw new HttpProblem('method_not_allowed', { headers: { Allow: headers.Allow } });
  };
};
