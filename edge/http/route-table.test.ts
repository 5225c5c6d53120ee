import { expect, test } from 'vitest';
import { serveRoutes } from '../../test/serve.ts';
import { createRouteTable } from './route-table.ts';

const ROUTES = [
  '/notes',
  '/notes/:id',
  '/notes/new',
  '/notes/:id/parts/:part',
  '/new-notes/:id',
  '/.well-known/notes',
  '/notes/:id/parts',
];

test.each([
  ['/notes', '/notes', {}],
  ['/notes/', '/notes', {}],
  ['/NOTES/7', '/notes/:id', { id: '7' }],
  ['/notes/a%2Fb/?x=/y/z', '/notes/:id', { id: 'a/b' }],
  // The first match wins, as everywhere.
  ['/notes/new', '/notes/:id', { id: 'new' }],
  ['/notes/7/parts/8', '/notes/:id/parts/:part', { id: '7', part: '8' }],
  ['/notes/7/PARTS/', '/notes/:id/parts', { id: '7' }],
  ['/.well-known/notes', '/.well-known/notes', {}],
])('%s is meant for %s', async (path, route, params) => {
  await using server = await serveTable();
  expect(await (await fetch(server.url + path)).json()).toEqual({ route, params });
});

test.each([
  '/',
  '/note',
  '/notes//',
  '//notes',
  '/notes/7/other',
  '/notes/7/parts/8/9',
  '/new-notes',
  '/constructor',
])('%s is meant for none', async (path) => {
  await using server = await serveTable();
  expect((await fetch(server.url + path)).status).toBe(404);
});

test('an error reaches the error handlers as usual', async () => {
  await using server = await serveTable();
  expect((await fetch(`${server.url}/notes/%ff`)).status).toBe(400);
});

const serveTable = () => {
  const table = createRouteTable();
  for (const route of ROUTES)
    table
      .routerOf(route)
      .get(
        route,
        (request, response) => void response.json({ route: request.route.path, params: request.params }),
      );
  return serveRoutes(table.handler);
};
