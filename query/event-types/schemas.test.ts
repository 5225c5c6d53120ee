import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Served, serveRoutes } from '../../test/serve.ts';
import { eventTypesOf } from './event-types.ts';
import { eventSchemaRoutes } from './schema-routes.ts';

const PUBLIC_URL = 'https://annals.example/';
const EVENT_TYPES = eventTypesOf(publishing);
const INTERNAL =
  catalogueOf(publishing).definitions.find(({ visibility }) => visibility !== 'public')?.type ?? 'none';

let server: Served;
beforeAll(async () => {
  server = await serveRoutes(eventSchemaRoutes({ domain: publishing, publicUrl: PUBLIC_URL }));
});
afterAll(() => server?.[Symbol.asyncDispose]());

const ask = (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init);

describe.each(EVENT_TYPES.map((each) => [each.type, each] as const))('%s', (type, eventType) => {
  test('has its schema at an address, which is its identifier', async () => {
    const path = `/schemas/events/${type}/${eventType.version}`;
    const response = await ask(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/schema+json']);
    const schema = (await response.json()) as { readonly $id: string };
    expect(schema.$id).toBe(`https://annals.example${path}`);
    const ajv = new Ajv2020({ formats: { 'date-time': true, email: true, uri: true, uuid: true } });
    ajv.compile(schema);
    expect(ajv.validate(schema.$id, eventType.example)).toBe(true);
    expect(ajv.validate(schema.$id, { ...eventType.example, more: 1 })).toBe(false);
  });
});

test('without a version it is the current one, also under /api', async () => {
  const versioned = await ask('/schemas/events/article.published/1');
  for (const path of ['/schemas/events/article.published', '/api/schemas/events/article.published/1']) {
    const response = await ask(path);
    expect(response.headers.get('content-location')).toBe('/schemas/events/article.published/1');
    expect(response.headers.get('etag')).toBe(versioned.headers.get('etag'));
  }
});

test('it is revalidated with 304, and has a HEAD', async () => {
  const path = '/schemas/events/article.published';
  const first = await ask(path);
  expect(first.headers.get('cache-control')).toBe('public, no-cache');
  const etag = first.headers.get('etag') ?? '';
  expect((await ask(path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
  const head = await ask(path, { method: 'HEAD' });
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  const posted = await ask(path, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test.each([
  ['article.unknown', 'There is no event type of this name: /event-types lists all of them.'],
  ['__proto__', 'There is no event type of this name: /event-types lists all of them.'],
  [INTERNAL, 'There is no event type of this name: /event-types lists all of them.'],
  ['article.published/7', 'Events of this type have version 1: /event-types lists all of them.'],
  ['article.published/01', 'Events of this type have version 1: /event-types lists all of them.'],
])('%s is not found', async (name, detail) => {
  expect(name).not.toBe('none');
  const response = await ask(`/schemas/events/${name}`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    404,
    'application/problem+json; charset=utf-8',
  ]);
  expect(await response.json()).toMatchObject({ code: 'not_found', detail });
});

test.each(['%zz', 'article.published/1/2', ''])('no other path %j is served', async (name) => {
  const response = await ask(`/schemas/events/${name}`);
  expect(response.status).toBeOneOf([400, 404]);
});
