/**
 * Serves the page, and the files of the package `annals` that browsers import. Any static web server can do
 * the same.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const url = process.env.ANNALS_URL ?? 'http://localhost:4000';
const clientId = process.env.CLIENT_ID ?? 'reading-room';
const settings = `export const url = ${JSON.stringify(url)};\nexport const clientId = ${JSON.stringify(clientId)};\n`;

const here = new URL('./', import.meta.url);
/** The installed package. */
const annals = new URL('../', import.meta.resolve('annals/client'));
const TYPES = { html: 'text/html; charset=utf-8', css: 'text/css', js: 'text/javascript' };

/**
 * Only scripts of this page may run, and they may connect only to Annals. The import map is inline, so the
 * policy names its digest.
 */
const [, importMap] = /<script type="importmap">(.*?)<\/script>/s.exec(
  readFileSync(new URL('index.html', here), 'utf8'),
);
const digest = createHash('sha256').update(importMap).digest('base64');
const POLICY = `default-src 'self'; script-src 'self' 'sha256-${digest}'; connect-src ${url}; img-src data:; frame-ancestors 'none'`;

const contentOf = (path) => {
  if (path === '/settings.js') return settings;
  if (/^\/(?:index\.html|style\.css|app\.js)$/.test(path)) return readFile(new URL(`.${path}`, here));
  // Serves the client, and nothing else of the package.
  const [, file] = /^\/annals\/(client\/[\w/-]+\.js|package\/client(?:-sign-in)?\.js)$/.exec(path) ?? [];
  return file && readFile(new URL(file, annals));
};

const server = createServer(async (request, response) => {
  // `//` is not a URL.
  const pathname = URL.parse(request.url, 'http://localhost')?.pathname;
  if (pathname === undefined) return response.writeHead(400).end('This is no address.');
  const path = pathname === '/' ? '/index.html' : pathname;
  const content = await Promise.resolve(contentOf(path)).catch(() => undefined);
  response.writeHead(content === undefined ? 404 : 200, {
    'Content-Type': TYPES[path.split('.').at(-1)] ?? 'text/plain',
    'Content-Security-Policy': POLICY,
    'Cache-Control': 'no-cache',
  });
  return response.end(content ?? 'There is nothing here.');
});
server.listen(Number(process.env.PORT ?? 3000), () =>
  console.log(`http://localhost:${server.address().port}`),
);
