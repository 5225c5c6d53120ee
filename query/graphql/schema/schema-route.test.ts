import { buildSchema, type GraphQLSchema, printSchema } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { type Served, serveRoutes } from '../../../test/serve.ts';
import { schemaOf } from './schema.ts';
import { schemaRoute } from './schema-route.ts';

const PATH = '/graphql/schema.graphql';

let [server, now]: [Served, GraphQLSchema] = [undefined as never, schemaOf(publishing)];
beforeAll(async () => {
  server = await serveRoutes(schemaRoute({ schemaNow: () => now, introspection: true }));
});
afterAll(() => server?.[Symbol.asyncDispose]());

const ask = (method = 'GET', headers: Record<string, string> = {}) =>
  fetch(`${server.url}${PATH}`, { method, headers });

test('the schema is a document, from which tools build the same schema', async () => {
  const response = await ask('GET', { Accept: 'text/plain' });
  expect([
    response.status,
    response.headers.get('content-type'),
    response.headers.get('cache-control'),
  ]).toEqual([200, 'text/plain; charset=utf-8', 'public, no-cache']);
  expect(printSchema(buildSchema(await response.text()))).toBe(printSchema(schemaOf(publishing)));
});

test('it is revalidated with 304, has a HEAD, and no other methods', async () => {
  const etag = (await ask()).headers.get('etag') ?? '';
  expect((await ask('GET', { 'If-None-Match': etag })).status).toBe(304);
  const head = await ask('HEAD');
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  const posted = await ask('POST');
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test('if a composed service changes it, the document changes', async () => {
  const before = (await ask()).headers.get('etag');
  now = buildSchema('type Query { stock: Int }');
  const after = await ask();
  expect(await after.text()).toContain('stock: Int');
  expect(after.headers.get('etag')).not.toBe(before);
});

test('without introspection, nobody reads it without a token', async () => {
  await using closed = await serveRoutes(schemaRoute({ schemaNow: () => now, introspection: false }));
  const response = await fetch(`${closed.url}${PATH}`);
  expect([response.status, response.headers.get('cache-control')]).toEqual([401, 'no-store']);
  expect(await response.text()).not.toContain('stock');
});
