import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { serveRoutes } from '../../test/serve.ts';
import { docsRoutes } from '../part.ts';
import { readModules } from './modules.ts';

const OPTIONS = {
  domain: publishing,
  publicUrl: 'https://annals.example',
  issuerUrl: 'https://id.example',
  requireIfMatch: false,
};

test('each module that a browser imports is there, without types and without the server', () => {
  const { all } = readModules();
  const paths = new Set(all.map(({ path }) => path));
  expect(paths.size).toBeGreaterThan(10);
  for (const { path, bytes } of all) {
    const text = bytes.toString();
    expect(text, path).not.toMatch(/^import type\b|\bsatisfies\b|\.ts['"]/m);
    for (const [, specifier = ''] of text.matchAll(/\bfrom\s*['"](\.[^'"]+)['"]/g))
      expect(paths, `${path} imports ${specifier}`).toContain(posix.join(posix.dirname(path), specifier));
  }
});

test('the page frames only itself, and only the frame makes code of text, without an origin', async () => {
  await using server = await serveRoutes(docsRoutes(OPTIONS));
  const policyAt = async (path: string) =>
    (await fetch(`${server.url}${path}`)).headers.get('content-security-policy') ?? '';
  const page = await policyAt('/docs/playground');
  expect(page).toMatch(/script-src 'self';.* frame-src 'self'$/);
  expect(page).toContain("connect-src 'self' https://annals.example https://id.example");
  const frame = await policyAt('/docs/playground/frame');
  expect(frame).toMatch(/^default-src 'none'; script-src 'self' 'unsafe-eval';.* sandbox allow-scripts$/);
  for (const path of ['/docs', '/docs/rest', '/docs/events'])
    expect(await policyAt(path)).not.toMatch(/frame-src|unsafe/);
});

test('its examples are JavaScript, of every collection', async () => {
  await using server = await serveRoutes(docsRoutes(OPTIONS));
  const html = await (await fetch(`${server.url}/docs/playground`)).text();
  const examples = [...html.matchAll(/<option value="([^"]*)">/g)].map(([, code = '']) =>
    code
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
  expect(examples[0]).toBe('const { items, after } = await client.articles.list().page();\nshow(items);');
  const AsyncFunction = (async () => {}).constructor as new (...text: string[]) => unknown;
  for (const code of examples) expect(() => new AsyncFunction('client', 'show', code), code).not.toThrow();
  expect(examples.join('\n')).toContain('client.comments');
});
