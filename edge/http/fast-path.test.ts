import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { expect, test } from 'vitest';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { answerErrors } from './answer-errors.ts';
import { createApp, firstHandlers } from './app.ts';
import { withFastPaths } from './fast-path.ts';
import { readJsonBody } from './json-body.ts';

/** The same handlers twice: at `/short` on the fast path, and at `/long` as routes. */
const serveBoth = async (...handlers: readonly RequestHandler[]) => {
  const tell: ErrorRequestHandler = (error, _request, response, next) => {
    response.set('X-Told', String(error));
    next(error);
  };
  const base = { log: captureLog().log, metrics: createMetrics() };
  const app = createApp({ ...base, routes: [Router().post('/long', ...handlers), tell] });
  const short = { handlers: [...firstHandlers(base), ...handlers], failures: [tell, answerErrors(base.log)] };
  return serve(withFastPaths(app, [{ ...short, takes: ({ url }) => url === '/short' }]));
};

const askBoth = async (url: string, body = '{"one":1}') => {
  const headers = { 'content-type': 'application/json', 'x-request-id': 'r1' };
  const answers = await Promise.all(
    ['/short', '/long'].map((path) => fetch(url + path, { method: 'POST', body, headers })),
  );
  return Promise.all(
    answers.map(async (answer) => {
      const { date, ...others } = Object.fromEntries(answer.headers);
      return { status: answer.status, headers: others, text: await answer.text() };
    }),
  );
};

const pass: RequestHandler = (_request, _response, next) => next();
const passLater: RequestHandler = async (_request, _response, next) => {
  await Promise.resolve();
  next();
};
const echo: RequestHandler = (request, response) => {
  const { body, ip, baseUrl, originalUrl, url } = request;
  response
    .vary('Accept')
    .status(201)
    .json({ body, ip, baseUrl, isOriginal: originalUrl === url });
};
const breakOff: RequestHandler = (_request, response, next) => {
  response.flushHeaders();
  response.write('half', () => next(new Error('nobody can be told')));
};
const problem = new HttpProblem('not_found', { headers: { Allow: 'POST' } });

test.each<[string, readonly RequestHandler[], number]>([
  ['an answer', [pass, passLater, ...readJsonBody(100), echo], 201],
  ['a handler that throws', [pass, () => Promise.reject(problem), echo], 404],
  [
    'a handler that fails later',
    [
      passLater,
      async () => {
        await Promise.resolve();
        throw problem;
      },
    ],
    404,
  ],
  ['a handler that hands on a failure', [(_request, _response, next) => next(problem), echo], 404],
  ['a failure that nobody expected', [() => Promise.reject(new Error('secret'))], 500],
  ['a body that is too large', [...readJsonBody(3), echo], 413],
])('%s is the same on the fast path as on the slow one', async (_, handlers, status) => {
  await using server = await serveBoth(...handlers);
  const [short, long] = await askBoth(server.url);
  expect(short).toEqual(long);
  expect(short?.status).toBe(status);
});

test('a response that fails half way is cut off, so that it does not look complete', async () => {
  await using server = await serveBoth(breakOff);
  for (const path of ['/short', '/long'])
    await expect(
      fetch(server.url + path, { method: 'POST' }).then((answer) => answer.text()),
    ).rejects.toThrow('terminated');
});

test('an unhandled failure ends the connection', async () => {
  const failing = {
    takes: () => true,
    handlers: [() => Promise.reject(new Error('nobody answers'))],
    failures: [],
  };
  const app = createApp({ log: captureLog().log, metrics: createMetrics(), routes: [] });
  await using server = await serve(withFastPaths(app, [failing]));
  await expect(fetch(server.url)).rejects.toThrow('fetch failed');
});
