// Over 200 lines, because all tests request the same site.
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import MiniSearch, { type AsPlainObject, type Options } from 'minisearch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { SETTINGS } from '#process/settings.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { policyOf } from '#shared/policy.ts';
import { problemCodesOf } from '../query/openapi/problem-codes.ts';
import { DESCRIBED } from '../test/engines/operations.ts';
import { schema } from '../test/engines/schema.ts';
import { type Served, serveRoutes } from '../test/serve.ts';
import { readAssets } from './assets.ts';
import { guidePath } from './guides/links.ts';
import { docsRoutes } from './part.ts';
import { pagesIn, readGroups } from './serve.ts';

const OPTIONS = {
  domain: publishing,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://id.example',
  requireIfMatch: false,
};
const PAGES = pagesIn(await readGroups(readAssets(), OPTIONS)).map(({ path }) => path);

/** Targets of links that other routes of this role and of auth serve. */
const BESIDE_IT = [
  '/console',
  '/graphql',
  '/openapi.json',
  '/openapi.yaml',
  '/asyncapi.json',
  '/asyncapi.yaml',
  '/event-types',
  '/.well-known/openid-configuration',
];

let server: Served;
const pages = new Map<string, string>();
beforeAll(async () => {
  server = await serveRoutes(docsRoutes(OPTIONS));
  for (const path of PAGES) {
    const response = await get(path);
    expect(response.status, path).toBe(200);
    pages.set(path, await response.text());
  }
});
afterAll(() => server?.[Symbol.asyncDispose]());

const get = (path: string, init: RequestInit = {}) =>
  fetch(`${server.url}${path}`, { redirect: 'manual', ...init });
const page = (path: string): string => pages.get(path) ?? '';
const idsIn = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id));
const named = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: new URL('../docs/', import.meta.url).pathname }).toSorted();

describe('the site is complete', () => {
  test('every operation of REST', () => {
    const html = page('/docs/rest');
    for (const [id, { path, summary }] of Object.entries(DESCRIBED)) {
      expect([...idsIn(html)].filter((each) => each.endsWith(`/${id}`))).toHaveLength(1);
      expect(html.replaceAll('<wbr>', '')).toContain(`<code>${path}</code>`);
      expect(html).toContain(summary.replaceAll("'", '&#39;'));
    }
  });

  test('every type, field and value of the GraphQL schema, each with an anchor', () => {
    const ids = idsIn(page('/docs/graphql'));
    const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
    const names = types.flatMap((type) => {
      const isRoot = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].some(
        (root) => root === type,
      );
      const own = isRoot ? [] : [type.name];
      if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
        return [...own, ...Object.keys(type.getFields()).map((field) => `${type.name}.${field}`)];
      return isEnumType(type) ? [...own, ...type.getValues().map(({ name }) => `${type.name}.${name}`)] : own;
    });
    expect(names.length).toBeGreaterThan(100);
    expect(names.filter((name) => !ids.has(name))).toEqual([]);
  });

  test('queries in alphabetical order, and those for gateways last', () => {
    const queries = [...idsIn(page('/docs/graphql'))].filter((id) => id.startsWith('Query.'));
    expect(queries[0]).toMatch(/^Query\.a/);
    expect(queries.slice(-2)).toEqual(['Query._entities', 'Query._service']);
  });

  test('every event type, internal ones included', () => {
    const ids = idsIn(page('/docs/events'));
    expect(
      catalogueOf(publishing)
        .definitions.map(({ type }) => type)
        .filter((type) => !ids.has(type)),
    ).toEqual([]);
  });

  test('every text of docs/, and every program of docs/examples', async () => {
    const expected = [
      ...named('*.md').map((name) => guidePath(basename(name, '.md'))),
      ...named('examples/**/*.*').map((name) => `/docs/${name}`),
    ];
    expect(expected.filter((path) => !PAGES.includes(path))).toEqual([]);
    const untitled = (await readGroups(readAssets(), OPTIONS)).find(({ title }) => title === 'More');
    // A new text must be assigned to a group.
    expect(untitled?.pages.map(({ title }) => title)).toEqual(['Changes']);
  });

  test('every problem code, those of the domain included, with an anchor', () => {
    const codes = problemCodesOf(publishing);
    expect(codes).toContain('article_not_published');
    expect(codes.filter((code) => !idsIn(page('/docs/errors')).has(code))).toEqual([]);
  });

  test('every scope', () => {
    expect(policyOf(publishing).scopes.filter((scope) => !idsIn(page('/docs/scopes')).has(scope))).toEqual(
      [],
    );
    expect(page('/docs/scopes')).toContain('<code>PATCH /articles/{articleId}</code>');
  });

  test('every setting', () => {
    for (const name of Object.keys(SETTINGS))
      expect(page('/docs/settings')).toContain(`<code>${name}</code>`);
  });
});

test('every link within the site leads to an existing page and heading, and every asset exists', async () => {
  const loaded = new Set<string>();
  const broken: string[] = [];
  for (const [path, html] of pages) {
    for (const [, address = ''] of html.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      const target = new URL(address.replaceAll('&amp;', '&'), `https://site${path}`);
      if (
        target.origin !== 'https://site' ||
        target.protocol === 'data:' ||
        BESIDE_IT.includes(target.pathname)
      )
        continue;
      const anchor = decodeURIComponent(target.hash.slice(1));
      if (target.pathname.startsWith('/docs/assets/')) loaded.add(target.pathname);
      else if (!pages.has(target.pathname)) broken.push(`${path} → ${address}`);
      else if (anchor !== '' && !idsIn(page(target.pathname)).has(anchor))
        broken.push(`${path} → ${address}`);
    }
  }
  expect(broken).toEqual([]);
  for (const path of loaded) {
    const asset = await get(path);
    expect([path, asset.status, asset.headers.get('cache-control')]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect([asset.headers.get('content-encoding'), asset.headers.get('vary')]).toEqual([
      'gzip',
      'Accept-Encoding',
    ]);
    const plain = await get(path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(await asset.text()).toBe(await plain.text());
  }
});

test('no page has inline scripts or styles, sets a cookie, or repeats an id', async () => {
  for (const [path, html] of pages) {
    expect(html, path).not.toMatch(/<script(?![^>]* src=)|<style|<[^>]*\son\w+="|<[^>]*\sstyle="/);
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.length, path).toBe(new Set(ids).size);
    expect([...html.matchAll(/<h1/g)], path).toHaveLength(1);
    expect([...html.matchAll(/aria-current="page"/g)], path).toHaveLength(2);
  }
  const response = await get('/docs/guides/changes');
  expect(response.headers.get('set-cookie')).toBeNull();
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self';.* connect-src 'self';/,
  );
});

test('a page is sent compressed, and revalidated with 304', async () => {
  const first = await get('/docs/graphql');
  expect([first.headers.get('content-encoding'), first.headers.get('cache-control')]).toEqual([
    'gzip',
    'public, no-cache',
  ]);
  expect(
    (await get('/docs/graphql', { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } })).status,
  ).toBe(304);
  const plain = await get('/docs/graphql', { headers: { 'Accept-Encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('etag')).not.toBe(first.headers.get('etag'));
  expect(await plain.text()).toBe(await first.text());
});

test.each([
  ['GET', '/docs/', 308, '../docs'],
  ['GET', '/docs/guides', 308, '../docs'],
  ['GET', '/docs/oauth2-redirect.html', 200, null],
  ['GET', '/docs/guides/unknown', 404, null],
  ['GET', '/docs/assets/unknown/docs.css', 404, null],
  ['HEAD', '/docs/events', 200, null],
  ['POST', '/docs', 405, null],
  ['DELETE', '/docs/guides/changes', 405, null],
])('%s %s is answered by %i', async (method, path, status, location) => {
  const response = await get(path, { method });
  expect([response.status, response.headers.get('location')]).toEqual([status, location]);
});

test('for an unknown page, browsers get a page and programs a problem', async () => {
  const html = await get('/docs/guides/unknown', { headers: { Accept: 'text/html,*/*;q=0.8' } });
  expect([html.status, html.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await html.text()).toContain('<h1>Not found</h1>');
  const json = await get('/docs/guides/unknown', { headers: { Accept: '*/*' } });
  expect([json.status, json.headers.get('content-type')]).toEqual([
    404,
    'application/problem+json; charset=utf-8',
  ]);
});

test('the search finds every page by parts of words, headings first', async () => {
  const response = await get('/docs/search-index');
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  const { index: kept, options } = (await response.json()) as { index: AsPlainObject; options: Options };
  const index = MiniSearch.loadJS(kept, options);
  const found = (words: string) => index.search(words).map(({ path }) => path as string);
  expect(found('version mismatch')[0]).toBe('/docs/errors#version_mismatch');
  expect(found('idempot').length).toBeGreaterThan(3);
  expect(found('patch articles articleId').slice(0, 3)).toContain('/docs/rest#/Articles/editArticle');
  expect(found('article.published')).toContain('/docs/events#article.published');
  expect(found('WEBHOOK_TIMEOUT_MS')).toContain('/docs/settings#settings');
  expect(found('no such thing as zyzzyva')).toEqual([]);
  const known = new Set(
    [...pages].flatMap(([path, html]) => [path, ...[...idsIn(html)].map((id) => `${path}#${id}`)]),
  );
  expect(found('event').filter((path) => !known.has(path))).toEqual([]);
});

test('the container image includes the texts', () => {
  const kept = readFileSync(new URL('../.dockerignore', import.meta.url), 'utf8').split('\n');
  for (const name of ['docs', 'CHANGELOG.md']) expect(kept).toContain(`!${name}`);
  expect(kept.filter((line) => line.startsWith('docs'))).toEqual([]);
});

test('the architecture diagram names every role and step', () => {
  const picture = readFileSync(new URL('../docs/architecture.svg', import.meta.url), 'utf8');
  for (const role of ['auth', 'command', 'query', 'projector', 'webhook-dispatcher'])
    expect(picture).toContain(`>${role}</text>`);
  for (const step of [1, 2, 3, 4, 5, 6]) expect(picture).toContain(`>${step} `);
});
