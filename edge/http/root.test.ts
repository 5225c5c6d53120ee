import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { serveRoutes } from '../../test/serve.ts';
import { type RootOptions, rootRoutes } from './root.ts';

const links = [{ rel: 'ready', href: '/readyz', title: 'Whether it <works> & "how"' }];
const open = (more: Partial<RootOptions> = {}) =>
  serveRoutes(rootRoutes({ version: '1.2.3', domain: publishing, links, ...more }));
const pageOf = async (url: string) => (await fetch(url, { headers: { Accept: 'text/html' } })).text();

test('a program gets JSON with links', async () => {
  await using server = await open();
  const response = await fetch(server.url);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('vary')).toBe('Accept');
  expect(await response.json()).toEqual({
    name: 'annals',
    version: '1.2.3',
    _links: { self: { href: '/' }, ready: { href: '/readyz', title: links[0]?.title } },
  });
});

test('a browser gets a page that runs and loads nothing', async () => {
  await using server = await open();
  const response = await fetch(server.url, {
    headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' },
  });
  const html = await response.text();
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; /,
  );
  expect(html).toContain('width=device-width');
  expect(html).toContain('Whether it &lt;works&gt; &amp; &quot;how&quot;');
  expect(html).toContain('<a href="/readyz">');
});

test('the page begins with the frequent destinations, and describes the installation', async () => {
  await using server = await open({
    links: [
      ...links,
      { rel: 'docs', href: '/docs', title: 'D' },
      { rel: 'console', href: '/console', title: 'C' },
    ],
  });
  const html = await pageOf(server.url);
  expect(html).toContain('<h1>Publishing</h1>');
  const places = ['Sign in to the console', 'Read the documentation', 'Try the API', 'For programs'].map(
    (text) => html.indexOf(text),
  );
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((one, other) => one - other));
});

test('links to roles that are not served here are left out', async () => {
  await using server = await open();
  expect(await pageOf(server.url)).not.toContain('Sign in to the console');
});

test('an unused installation offers the demo', async () => {
  let isUnused = true;
  await using server = await open({ offersDemo: async () => isUnused });
  expect(await pageOf(server.url)).toContain('npm run demo');
  isUnused = false;
  expect(await pageOf(server.url)).not.toContain('npm run demo');
});

test('an unknown media type is 406', async () => {
  await using server = await open();
  expect((await fetch(server.url, { headers: { Accept: 'image/png' } })).status).toBe(406);
});

test('writing to the root is 405', async () => {
  await using server = await open();
  const response = await fetch(server.url, { method: 'POST' });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});
