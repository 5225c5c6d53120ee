import { type RequestHandler, Router } from 'express';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { StreamName } from '#kernel/base/brands.ts';
import { REJECTIONS, Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { LogUnavailable, StaleVersion } from '#shared/event-log/errors.ts';
import { serveRoutes } from '../../test/serve.ts';
import { refuseOtherMethods } from './answer-errors.ts';
import { parseInput } from './parse-input.ts';
import { problemOf } from './problem.ts';
import { requestIdOf } from './request-context.ts';

const throwing =
  (error: unknown): RequestHandler =>
  () => {
    throw error;
  };

const onlyPost = () => Router().all('/x', refuseOtherMethods('POST'));

test.each(Object.keys(REJECTIONS) as (keyof typeof REJECTIONS)[])(
  'the refusal %s is a problem with its code',
  (code) => {
    const { status, body: problem } = problemOf(new Rejection(code));
    expect(problem).toMatchObject({
      code,
      status,
      title: REJECTIONS[code],
      type: `urn:annals:problem:${code}`,
    });
    // The request for a confirmation is accepted: a person decides later.
    if (code === 'confirmation_required') expect(status).toBe(202);
    else expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  },
);

test('a refusal is answered as problem+json with its details and the request id', async () => {
  await using server = await serveRoutes(
    Router().get('/x', throwing(new Rejection('insufficient_scope', { scope: 'write:articles' }))),
  );
  const response = await fetch(`${server.url}/x`, { headers: { 'X-Request-Id': 'mine-1' } });
  expect(response.status).toBe(403);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(response.headers.get('www-authenticate')).toBe(
    'Bearer error="insufficient_scope", scope="write:articles"',
  );
  expect(response.headers.get('link')).toBe('</docs/errors#insufficient_scope>; rel="help"');
  expect(await response.json()).toMatchObject({
    code: 'insufficient_scope',
    details: { scope: 'write:articles' },
    requestId: 'mine-1',
  });
});

test('a caller who is not signed in is challenged', () => {
  expect(problemOf(new Rejection('unauthenticated')).headers).toEqual({ 'WWW-Authenticate': 'Bearer' });
});

test('invalid fields are listed by JSON pointer, and missing ones are called missing', () => {
  const schema = z.object({ 'a/b': z.array(z.object({ c: z.string(), d: z.enum(['x']), e: z.string() })) });
  const missing = 'Is missing.';
  const errors = [
    { pointer: '/a~1b/0/c', detail: missing },
    { pointer: '/a~1b/0/d', detail: missing },
    { pointer: '/a~1b/0/e', detail: expect.not.stringContaining(missing) },
  ];
  expect(() => parseInput(schema, { 'a/b': [{ e: 1 }] })).toThrow(
    expect.objectContaining({ code: 'invalid_request', extensions: { errors } }),
  );
});

test('stored data that violates a schema is a server error', () => {
  expect(problemOf(z.string().safeParse(1).error)).toMatchObject({ status: 500, body: { code: 'internal' } });
});

test.each<[string, unknown, string, boolean]>([
  ['what nobody expected is an error with its stack', new Error('broken'), 'error', true],
  ['what may happen is a warning without one', new LogUnavailable('away'), 'warn', false],
  ['so is what is not visible yet', new HttpProblem('not_yet_visible'), 'warn', false],
])('in the log, %s', async (_, error, level, hasStack) => {
  await using server = await serveRoutes(Router().get('/x', throwing(error)));
  await fetch(`${server.url}/x`);
  const lines = server
    .logged()
    .split('\n')
    .filter((line) => line.includes('A request '));
  expect(lines).toEqual([expect.stringContaining(`"level":"${level}"`)]);
  expect(lines[0]?.includes('"stack"')).toBe(hasStack);
});

test('an unexpected error is masked, and logged whole with the request id', async () => {
  const error = new StaleVersion('secret-stream' as StreamName, 'any');
  await using server = await serveRoutes(Router().get('/x', throwing(error)));
  const response = await fetch(`${server.url}/x`);
  const answer = (await response.json()) as { requestId: string };
  expect(response.status).toBe(500);
  expect(JSON.stringify(answer)).not.toContain('secret-stream');
  expect(server.logged()).toContain('secret-stream');
  expect(server.logged()).toContain(answer.requestId);
});

test('an error after the response has begun ends the connection', async () => {
  await using server = await serveRoutes(
    Router().get('/x', (_request, response) => {
      response.write('half');
      throw new Error('late');
    }),
  );
  const response = fetch(`${server.url}/x`).then((answer) => answer.text());
  await expect(response).rejects.toThrow();
});

test('headers of a response that failed are removed', async () => {
  await using server = await serveRoutes(
    Router().get('/x', (_request, response) => {
      response.set({ ETag: '"1"', 'Cache-Control': 'public' });
      throw new Rejection('forbidden');
    }),
  );
  const response = await fetch(`${server.url}/x`);
  expect(response.headers.get('etag')).toBeNull();
  expect(response.headers.get('cache-control')).toBe('no-store');
});

test('an unknown path is 404', async () => {
  await using server = await serveRoutes(onlyPost());
  const response = await fetch(`${server.url}/nowhere?email=ada@example.org`);
  expect(await response.json()).toMatchObject({ status: 404, code: 'not_found' });
  expect(server.logged()).not.toContain('ada@');
});

test('a path that cannot be decoded is 400', async () => {
  await using server = await serveRoutes(
    Router().get('/items/:id', (_request, response) => void response.end()),
  );
  expect(await (await fetch(`${server.url}/items/%E0%A4%A`)).json()).toMatchObject({
    status: 400,
    code: 'malformed_request',
  });
});

test('another method is 405 and lists the allowed ones', async () => {
  await using server = await serveRoutes(onlyPost());
  const response = await fetch(`${server.url}/x`);
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST, OPTIONS');
  const options = await fetch(`${server.url}/x`, { method: 'OPTIONS' });
  expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([
    204,
    'POST, OPTIONS',
    '',
  ]);
});

test.each([
  ['kept when it is harmless', 'abc-123.X:9', true],
  ['replaced when it is too long', 'a'.repeat(101), false],
  ['replaced when it has odd characters', 'a"b', false],
])('the request id is %s', async (_, given, kept) => {
  const seen: string[] = [];
  await using server = await serveRoutes(
    Router().get('/x', (request, response) => {
      seen.push(requestIdOf(request));
      response.end();
    }),
  );
  const response = await fetch(`${server.url}/x`, { headers: { 'X-Request-Id': given } });
  expect(response.headers.get('x-request-id')).toBe(seen[0]);
  expect(seen[0] === given).toBe(kept);
});

test('responses do not reveal the framework and may not be sniffed', async () => {
  await using server = await serveRoutes(Router().get('/x', (_request, response) => void response.json({})));
  const { headers } = await fetch(`${server.url}/x`);
  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});
