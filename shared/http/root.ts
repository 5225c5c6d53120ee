import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { refuseOtherMethods } from './answer-errors.ts';
import { demandPreferredType } from './media-type.ts';
import { createRouteTable } from './route-table.ts';

export type Link = { readonly rel: string; readonly href: string; readonly title: string };
export type RootOptions = { readonly version: string; readonly links: readonly Link[] };

const MEDIA_TYPES = ['application/json', 'application/hal+json', 'text/html'] as const;

/** `GET /` names what is there: JSON with links for programs, a small page for people. */
export const rootRoutes = (options: RootOptions): RequestHandler => {
  const table = createRouteTable();
  const json = JSON.stringify(rootDocument(options));
  const html = rootPage(options);
  table
    .routerOf('/')
    .get('/', (request, response) => {
      response.set({ Vary: 'Accept', 'Cache-Control': 'public, max-age=60' });
      const type = demandPreferredType(request, MEDIA_TYPES);
      if (type !== 'text/html') return void response.type(type).send(json);
      response.set({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' }).type('html').send(html);
    })
    .all('/', refuseOtherMethods('GET', 'HEAD'));
  return table.handler;
};

const rootDocument = ({ version, links }: RootOptions) => ({
  name: 'annals',
  version,
  _links: Object.fromEntries([['self', { href: '/' }], ...links.map(({ rel, href, title }) => [rel, { href, title }])]),
});

const STYLE = `
:root { color-scheme: light dark; font: 1.0625rem/1.6 system-ui, sans-serif; }
body { max-width: 38rem; margin: 0 auto; padding: 2rem 1.25rem; }
h1 { margin: 0; font-size: 1.75rem; }
p { margin: .25rem 0 1.5rem; opacity: .75; }
ul { list-style: none; margin: 0; padding: 0; }
li { border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
a { display: block; padding: .75rem 0; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
a:hover, a:focus-visible { text-decoration: underline; }
code { font: .9375rem ui-monospace, monospace; }
small { display: block; opacity: .75; }
`;

/** Nothing but the one style may load or run. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const rootPage = ({ version, links }: RootOptions): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annals</title>
<style>${STYLE}</style>
<body>
<main>
<h1>Annals</h1>
<p>An event-sourced backend for publishing · ${escapeHtml(version)}</p>
<ul>
${links.map(({ href, title }) => `<li><a href="${escapeHtml(href)}"><code>${escapeHtml(href)}</code><small>${escapeHtml(title)}</small></a></li>`).join('\n')}
</ul>
</main>
</body>
</html>
`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
