import { type RequestHandler, Router } from 'express';

/** Routes in groups, so that a request is compared with those few alone that it may be meant for. */
export type RouteTable = {
  /** The router of the routes that begin with the same word and are as long; it takes them in the order in which they are added. */
  routerOf(route: string): Router;
  /** Takes what is meant for one of them, and passes on all else. */
  readonly handler: RequestHandler;
};

/** Express compares a path with each route there is, one after the other. The first part of each route here is a word, if it has any. */
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

/** The first part of a path, in any case, and how many there are; a slash at the end adds none. */
const groupOf = (path: string): string => {
  let [parts, firstEnd] = [0, path.length];
  for (let at = 0; at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    if (parts === 1) firstEnd = at;
    parts += 1;
  }
  const first = path.slice(1, firstEnd).toLowerCase();
  return `${parts} ${first.endsWith('/') ? first.slice(0, -1) : first}`;
};
