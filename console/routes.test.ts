import { gzipSync } from 'node:zlib';
import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { serveRoutes } from '../test/serve.ts';
import { type Application, readApplication } from './application.ts';
import { consoleRoutes } from './routes.ts';

const GZIPPED_BYTES_MAX = 155 * 1_024;
const LATER_BYTES_MAX = 45 * 1_024;

const test = base
  .extend('routes', { scope: 'file' }, () =>
    consoleRoutes({
      domain: publishing,
      publicUrl: 'https://annals.example',
      issuerUrl: 'https://id.example',
    }),
  )
  .extend('get', { scope: 'file' }, async ({ routes }, { onCleanup }) => {
    const server = await serveRoutes(routes);
    onCleanup(() => server[Symbol.asyncDispose]());
    return (path: string, init: RequestInit = {}) =>
      fetch(`${server.url}${path}`, { redirect: 'manual', ...init });
  });

const gzippedBytesOf = (assets: Application['assets']): number =>
  assets.reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0);

test('what a page loads is small, and so is what some pages load later', () => {
  const { assets, later } = readApplication();
  expect(later.map(({ path }) => path.split('/').at(-1))).toEqual([
    'marked.js',
    'uplot.js',
    'tree.ts',
    'draw.ts',
  ]);
  expect(gzippedBytesOf(assets.filter((asset) => !later.includes(asset)))).toBeLessThan(GZIPPED_BYTES_MAX);
  expect(gzippedBytesOf(later)).toBeLessThan(LATER_BYTES_MAX);
});

test('no module of every page imports what is loaded later', () => {
  const { assets, later } = readApplication();
  const lazy = later.map(({ path }) => path.split('/').at(-1));
  const importers = assets
    .filter((asset) => !later.includes(asset))
    .filter(({ bytes }) =>
      [...bytes.toString().matchAll(/\bfrom\s*["']([^"']+)["'];/g)].some(([, name]) =>
        lazy.includes(name?.split('/').at(-1)),
      ),
    );
  expect(importers.map(({ path }) => path)).toEqual([]);
});

test('every import of a module resolves, and no types are left', async () => {
  const { assets } = readApplication();
  const paths = new Set(assets.map(({ path }) => path));
  const modules = assets.filter(({ type }) => type === 'text/javascript');
  const missing = modules.flatMap(({ path, bytes }) =>
    [...bytes.toString().matchAll(/\bfrom\s*["']([^"'\s]+)["'];/g)]
      .map(([, specifier = '']) =>
        specifier.startsWith('.') ? new URL(specifier, `http://host${path}`).pathname : specifier,
      )
      .filter((target) => !paths.has(target)),
  );
  expect(missing).toEqual([]);
  expect(modules.filter(({ bytes }) => /^import type\b|\bsatisfies\b/m.test(bytes.toString()))).toEqual([]);
});

test('every address of the console is the same page, which runs only its own modules', async ({ get }) => {
  const page = await get('/console');
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' https://annals.example https://id.example; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(page.headers.get('set-cookie')).toBeNull();
  const html = await page.text();
  expect(html).toContain(
    'data-home="https://annals.example/console" data-issuer="https://id.example" data-scope="openid profile read:users',
  );
  expect(html).toContain('The console is being loaded.');
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  for (const path of ['/console/items/articles/8001', '/account/webhooks', '/account/webhooks/6001'])
    expect(await (await get(path)).text()).toBe(html);
  expect((await get('/account/webhooksx')).status).toBe(404);
  expect(
    (await get('/console', { headers: { 'If-None-Match': page.headers.get('etag') ?? '' } })).status,
  ).toBe(304);
});

test('assets may be cached forever', async ({ get }) => {
  const html = await (await get('/console')).text();
  const paths = [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  const description = paths.find((path) => path.endsWith('/domain.json'));
  expect(html).toContain(`data-domain="${description}"`);
  const { assets, later } = readApplication();
  expect(paths).toHaveLength(assets.length - later.length + 1);
  for (const path of [...paths, ...later.map((asset) => asset.path)]) {
    const asset = await get(path);
    expect([path, asset.status, asset.headers.get('cache-control')]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect(asset.headers.get('content-type')).toMatch(
      path === description
        ? /^application\/json/
        : path.endsWith('.css')
          ? /^text\/css/
          : /^text\/javascript/,
    );
    expect(asset.headers.get('content-encoding')).toBe('gzip');
  }
});

test.for<[method: string, path: string, status: number]>([
  ['GET', '/console/', 308],
  ['GET', '/console/assets/unknown/main.ts', 404],
  ['POST', '/console', 405],
  ['DELETE', '/console/parked', 405],
  ['HEAD', '/console/events', 200],
  ['GET', '/console/feed?types=article.*', 308],
  ['GET', '/consoles', 404],
])('%s %s is answered by %i', async ([method, path, status], { get }) => {
  expect((await get(path, { method })).status).toBe(status);
});
