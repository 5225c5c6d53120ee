import { type Request, type Response, Router } from 'express';
import { expect, test } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { captureLog, serve } from '../../test/serve.ts';
import { until } from '../../testing/until.ts';
import { refuseOtherMethods } from './answer-errors.ts';
import { createApp } from './app.ts';

const routes = Router()
  .get('/works', (_request: Request, response: Response) => void response.json({}))
  .all('/refuses', refuseOtherMethods('POST'))
  .get('/fails', () => {
    throw new LogUnavailable('away');
  });

test('a terminal in development shows requests only if they failed on the server', async () => {
  const { log, logged } = captureLog();
  await using server = await serve(
    createApp({ log, metrics: createMetrics(), requestLogLevel: 'debug', routes: [routes] }),
  );
  for (const path of ['/works', '/refuses', '/fails']) await (await fetch(`${server.url}${path}`)).text();
  const levels = () =>
    logged()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line))
      .map(({ level, path }) => `${path} ${level}`);
  await until(
    async () => levels(),
    ({ length }) => length === 3,
  );
  expect(levels()).toEqual(['/works debug', '/refuses debug', '/fails info']);
});
