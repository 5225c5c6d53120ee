import { Router } from 'express';
import { expect, test } from 'vitest';
import { captureLog, serveRoutes } from '../../test/serve.ts';
import { TooBusy } from '../security/semaphore.ts';
import { answerPageErrors } from './page-refusal.ts';

const failingWith = async (error: Error) => {
  const { log, logged } = captureLog();
  const routes = Router()
    .get('/sign-in', () => {
      throw error;
    })
    .use(answerPageErrors(log));
  return { server: await serveRoutes(routes), logged };
};
const BROWSER = { headers: { accept: 'text/html' } };

test('while too many people sign in, a page says when to retry, and nothing is logged', async () => {
  const { server, logged } = await failingWith(new TooBusy());
  await using _server = server;
  const response = await fetch(`${server.url}/sign-in`, BROWSER);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await response.text()).toContain('Many people are signing in right now.');
  expect(logged()).toBe('');
});

test('an unexpected failure is a page with the id of the request, and is logged with it', async () => {
  const { server, logged } = await failingWith(new Error('out of the blue'));
  await using _server = server;
  const response = await fetch(`${server.url}/sign-in`, BROWSER);
  expect(response.status).toBe(500);
  const [, requestId = ''] = /([0-9a-f-]{36})/.exec(await response.text()) ?? [];
  expect(requestId).not.toBe('');
  expect(logged()).toContain('out of the blue');
  expect(logged()).toContain('A page failed.');
  expect(logged()).toContain(requestId);
});
