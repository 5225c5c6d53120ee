import { expect, test } from 'vitest';
import { serveRoutes } from '../../test/serve.ts';
import { rootRoutes } from './root.ts';

const links = [{ rel: 'ready', href: '/readyz', title: 'Whether it <works> & "how"' }];
const open = () => serveRoutes(rootRoutes({ version: '1.2.3', links }));

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

test('a browser gets a page on which nothing can be run or loaded', async () => {
  await using server = await open();
  const response = await fetch(server.url, { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  const html = await response.text();
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /);
  expect(html).toContain('width=device-width');
  expect(html).toContain('Whether it &lt;works&gt; &amp; &quot;how&quot;');
  expect(html).toContain('<a href="/readyz">');
});

test('a media type that there is not is 406', async () => {
  await using server = await open();
  expect((await fetch(server.url, { headers: { Accept: 'image/png' } })).status).toBe(406);
});

test('writing to the root is 405', async () => {
  await using server = await open();
  const response = await fetch(server.url, { method: 'POST' });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
});
