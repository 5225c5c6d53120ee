import { once } from 'node:events';
import { Router } from 'express';
import { execute, parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../test/engines/schema.ts';
import { captureLog, serveRoutes } from '../../../test/serve.ts';
import { until } from '../../../testing/until.ts';
import { answerGraphqlErrors } from './refusal.ts';

test('a client that disconnects during its operation causes no error log', async () => {
  const { log, logged } = captureLog();
  const running = Promise.withResolvers<void>();
  const routes = Router().post('/graphql', async (_request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const rootValue = { me: () => once(response, 'never') };
    const operation = execute({
      schema,
      document: parse('{ me { id } }'),
      rootValue,
      abortSignal: gone.signal,
    });
    running.resolve();
    await operation;
  });
  await using server = await serveRoutes(routes, answerGraphqlErrors(log, 1_000));
  const client = new AbortController();
  const answer = fetch(`${server.url}/graphql`, { method: 'POST', signal: client.signal });
  await running.promise;
  client.abort();
  await expect(answer).rejects.toThrow('aborted');
  await until(server.logged, (text) => text.includes('"status":499'));
  expect(logged() + server.logged()).not.toMatch(/"level":"(warn|error)"/);
});
