import { type RequestHandler, Router } from 'express';
import { expect, test } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { answerErrors } from './answer-errors.ts';
import { createApp, firstHandlers } from './app.ts';
import { withFastPaths } from './fast-path.ts';
import { createFastRoutes } from './fast-routes.ts';

const ROUTES = ['/notes', '/notes/new', '/notes/:id', '/notes/:id/parts', '/notes/:id/:part', '/events/:id'];
const SLOW = '/events/:id';

/** The same routes behind a router alone, and behind fast routes too, which say so. */
const serveTwice = async () => {
  const base = { log: captureLog().log, metrics: createMetrics() };
  const routes = Router();
  const fastRoutes = createFastRoutes();
  const tell: RequestHandler = ({ params, query, route, path, baseUrl, originalUrl }, response) => {
    const told = { params, query, route: route.path, path, baseUrl, originalUrl };
    response.json(told);
  };
  for (const route of ROUTES) {
    const handlers: readonly RequestHandler[] = [(_request, _response, next) => next(), tell];
    routes.get(route, ...handlers);
    fastRoutes.add({ method: 'GET', route, handlers, isSlow: route === SLOW });
  }
  const sayFast: RequestHandler = (_request, response, next) => {
    response.set('X-Way', 'fast');
    next();
  };
  const { takes, handlers } = fastRoutes.fastPath;
  const fast = { takes, handlers: [...firstHandlers(base), sayFast, ...handlers] };
  const app = createApp({ ...base, routes: [routes] });
  const slowServer = await serve(app);
  const fastServer = await serve(withFastPaths(app, [{ ...fast, failures: [answerErrors(base.log)] }]));
  return {
    async ask(path: string, method = 'GET') {
      const [slow, quick] = await Promise.all(
        [slowServer, fastServer].map(async ({ url }) => {
          const answer = await fetch(url + path, { method, headers: { 'x-request-id': 'r1' } });
          return { status: answer.status, text: await answer.text(), way: answer.headers.get('x-way') };
        }),
      );
      const { way, ...others } = quick as NonNullable<typeof quick>;
      expect(others).toEqual({ status: slow?.status, text: slow?.text });
      return way ?? 'slow';
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([slowServer[Symbol.asyncDispose](), fastServer[Symbol.asyncDispose]()]);
    },
  };
};

test.each([
  ['/notes', 'fast'],
  ['/notes?limit=3&x=%C3%A4', 'fast'],
  ['/notes?', 'fast'],
  ['/notes/7', 'fast'],
  ['/notes/new', 'fast'],
  ['/notes/7/parts', 'fast'],
  ['/notes/~a.b-c_d', 'fast'],
  // The router does not distinguish case, so that this is the earlier of two routes.
  ['/notes/NEW', 'slow'],
  ['/notes/7/Parts', 'slow'],
  ['/Notes', 'slow'],
  ['/notes/', 'slow'],
  ['/notes//', 'slow'],
  ['//notes', 'slow'],
  ['/notes/a%2Fb', 'slow'],
  ['/notes/%ff', 'slow'],
  ['/notes/a:b', 'slow'],
  ['/notes/7/parts/8', 'slow'],
  ['/constructor', 'slow'],
  ['/', 'slow'],
  ['/events/7', 'slow'],
])('%s gets the answer of the router on the %s path', async (path, way) => {
  await using twice = await serveTwice();
  expect(await twice.ask(path)).toBe(way);
});

test.each(['HEAD', 'OPTIONS', 'POST'])('%s of a path that is only read is for the router', async (method) => {
  await using twice = await serveTwice();
  expect(await twice.ask('/notes/7', method)).toBe('slow');
});

test.each(['/:kind/7', '/notes/{*path}', '/notes/:id.json'])('%s is no fast route', (route) => {
  expect(() => createFastRoutes().add({ method: 'GET', route, handlers: [] })).toThrow();
});
