import { connect } from 'node:net';
import { text as read } from 'node:stream/consumers';
import { Router } from 'express';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import { serveRoutes } from '../../test/serve.ts';
import { resourcesOf } from './operations.ts';

/** Two roles that serve the same paths, as in one process. */
const open = () =>
  serveRoutes(
    resourcePaths(publishing),
    Router()
      .post('/articles', (_request, response) => void response.send('written'))
      .patch(
        '/articles/:articleId',
        (request, response) => void response.send(`patched ${request.params.articleId}`),
      ),
    Router().get('/articles', (request, response) => void response.send(`read ${request.query.limit ?? ''}`)),
  );

const ITEM = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';
const PATHS: readonly (readonly [path: string, allow: string])[] = [
  ['/articles', 'GET, HEAD, POST, OPTIONS'],
  ['/articles/1', ITEM],
  ['/articles/1/comments', 'GET, HEAD, POST, OPTIONS'],
  ['/articles/1/publish', 'POST, OPTIONS'],
  ['/articles/1/cover', 'PUT, DELETE, OPTIONS'],
  ['/comments/1', ITEM],
  ['/users', 'GET, HEAD, POST, OPTIONS'],
  ['/users/1', ITEM],
  ['/users/1/articles', 'GET, HEAD, OPTIONS'],
  ['/me', 'GET, HEAD, OPTIONS'],
  ['/api/articles/1', ITEM],
];

test.each(PATHS)('the methods of %s, by OPTIONS and by 405, are %s', async (path, allow) => {
  await using server = await open();
  const options = await fetch(`${server.url}${path}`, { method: 'OPTIONS' });
  expect({ status: options.status, allow: options.headers.get('allow'), body: await options.text() }).toEqual(
    {
      status: 204,
      allow,
      body: '',
    },
  );
  expect(options.headers.get('accept-patch')).toBe(
    allow.includes('PATCH')
      ? 'application/merge-patch+json, application/json-patch+json, application/json'
      : null,
  );
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter(
    (each) => !allow.split(', ').includes(each),
  )) {
    const refused = await fetch(`${server.url}${path}`, { method });
    expect({ method, status: refused.status, allow: refused.headers.get('allow') }).toEqual({
      method,
      status: 405,
      allow,
    });
    expect(await refused.json()).toMatchObject({ code: 'method_not_allowed', requestId: expect.any(String) });
  }
});

test('a method that another process serves is not refused as unknown', async () => {
  await using server = await open();
  expect((await fetch(`${server.url}/articles/1`)).status).toBe(404);
});

test('a path under /api is the same as without it', async () => {
  await using server = await open();
  const text = async (path: string, method = 'GET') =>
    (await fetch(`${server.url}${path}`, { method })).text();
  expect(await text('/api/articles?limit=3')).toBe('read 3');
  expect(await text('/api/articles', 'POST')).toBe('written');
  expect(await text('/api/articles/7', 'PATCH')).toBe('patched 7');
  expect(await textOfWhole(server.url, '/api/articles?limit=3')).toMatch(/read 3$/);
});

/** Sends a request that names the origin too, as for a proxy. */
const textOfWhole = (url: string, path: string): Promise<string> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(`GET ${url}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  return read(socket);
};

test.each(['/api', '/api/', '/api/articlesx', '/api/api/articles', '/api//articles', '/apiarticles'])(
  '%s is not found',
  async (path) => {
    await using server = await open();
    expect((await fetch(`${server.url}${path}`)).status).toBe(404);
  },
);

test('each path answers OPTIONS with its own methods, also if another one has a parameter in its place', async () => {
  await using server = await open();
  const methodsOf = Map.groupBy(resourcesOf(publishing), ({ path }) => path);
  for (const [path, operations] of methodsOf) {
    const methods: readonly string[] = operations.map(({ method }) => method);
    const { headers } = await fetch(server.url + path.replaceAll(/\{\w+\}/g, '1'), { method: 'OPTIONS' });
    const allowed = new Set(headers.get('allow')?.split(', '));
    const wanted = new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']);
    expect([path, allowed]).toEqual([path, wanted]);
  }
});
