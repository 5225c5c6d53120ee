import type { RequestHandler } from 'express';
import { inSequence } from '#edge/http/in-sequence.ts';
import { createRouteTable } from '#edge/http/route-table.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type RestOperation, routeOf } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { resourcesOf } from '#shared/rest/operations.ts';

/**
 * Every process that serves resources mounts this before their routes: the prefix `/api`, and the methods of
 * each path.
 */
export const resourcePaths = (domain: Domain): RequestHandler => {
  const operations = resourcesOf(domain);
  return inSequence([apiPrefix(operations), methodRoutes(operations)]);
};

/**
 * The same resources are under `/api` as well. Mounted before their routes; links in responses have no
 * prefix.
 */
const apiPrefix = (operations: readonly RestOperation[]): RequestHandler => {
  // Only for resources: a path such as `/api/token` is no alias.
  const resources = new Set(operations.map(({ path }) => path.split('/')[1]));
  // After the origin, which clients of proxies name as well (RFC 9112, section 3.2.2).
  const prefixed = new RegExp(`^(https?://[^/?#]+)?/api(?=/(?:${[...resources].join('|')})(?:[/?]|$))`, 'i');
  return (request, _response, next) => {
    request.url = request.url.replace(prefixed, (_prefix, origin = '') => origin);
    next();
  };
};

/**
 * The methods of each resource, for `OPTIONS` and for refusing others. Mounted before the routes of the
 * roles: one role may read a path and another write it, and Express answers `OPTIONS` with the methods of the
 * first that knows the path.
 */
const methodRoutes = (operations: readonly RestOperation[]): RequestHandler => {
  const table = createRouteTable();
  for (const [route, ofPath] of [...Map.groupBy(operations, routeOf)].toSorted(literalFirst))
    table.routerOf(route).all(route, answerMethods(ofPath));
  return table.handler;
};

/** `/users/aggregate` before `/users/:userId`, which matches it too. */
const literalFirst = (
  [one]: readonly [route: string, ...unknown[]],
  [other]: readonly [string, ...unknown[]],
) => (lastByParameters(one) < lastByParameters(other) ? -1 : 1);
const lastByParameters = (route: string): string => route.replaceAll(/:\w+/g, '\uffff');

const answerMethods = (operations: readonly RestOperation[]): RequestHandler => {
  const methods: readonly string[] = operations.map(({ method }) => method);
  const allow = [
    ...(methods.includes('GET') ? ['GET', 'HEAD'] : []),
    ...methods.filter((method) => method !== 'GET'),
    'OPTIONS',
  ];
  const patch = operations.find(({ method }) => method === 'PATCH')?.body ?? {};
  const headers = {
    Allow: allow.join(', '),
    ...(Object.keys(patch).length > 0 && { 'Accept-Patch': Object.keys(patch).join(', ') }),
  };
  return (request, response, next) => {
    if (request.method === 'OPTIONS') return void response.set(headers).status(204).end();
    // The method is served below, or by another process.
    if (allow.includes(request.method)) return next();
    throw new HttpProblem('method_not_allowed', { headers: { Allow: headers.Allow } });
  };
};
