import { type RequestHandler, Router } from 'express';

/** Groups routes by first segment and length, so that Express compares a request with few of them. */
type RouteTable = {
  /**
   * The router for all routes with the same first segment and number of segments; they match in the order in
   * which they were added.
   */
  routerOf(route: string): Router;
  /** Handles requests that match a route, and passes on all others. */
  readonly handler: RequestHandler;
};

/**
 * Express compares a path with every route, one after the other. The first segment of each route here is a
 * literal word, if it has any.
 */
export const createRouteTable = (): RouteTable => {
  const groups = new Map<string, Router>();
  return {
    routerOf(route) {
      const group = groupOf(route);
      if (!/^\/([\w.-]+(\/|$)|$)/.test(route)) throw new Error(`${route} does not begin with a word`);
      const router = groups.get(group) ?? Router();
      groups.set(group, router);
      return router;
    },
    handler(request, response, next) {
      const router = groups.get(groupOf(request.path));
      return router === undefined ? next() : router(request, response, next);
    },
  };
};

/** The first segment of a path, ignoring case, and the number of segments; a slash at the end adds none. */
const groupOf = (path: string): string => {
  let [parts, firstEnd] = [0, path.length];
  for (let at = 0; at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    if (parts === 1) firstEnd = at;
    parts += 1;
  }
  const first = path.slice(1, firstEnd).toLowerCase();
  return `${parts} ${first.endsWith('/') ? first.slice(0, -1) : first}`;
};
